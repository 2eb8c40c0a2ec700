import type { PictureFile } from '@slipway/llm';
import type { ActionServerClient } from './action-server-client.js';

/** Pictures that are kept in memory: as many as one request shows. */
const KEPT = 6;

/**
 * Pictures of users' messages as data URLs, for the model. A file is read once while it is among the newest; one that
 * cannot be read is tried again at the next step.
 */
export class Pictures {
  private readonly kept = new Map<string, string>();

  constructor(private readonly actionServer: Pick<ActionServerClient, 'readFile'>) {}

  readonly read = async ({ path, mediaType }: PictureFile): Promise<string | null> => {
    const known = this.kept.get(path);
    if (known !== undefined) {
      this.keep(path, known);
      return known;
    }
    const content = await this.actionServer.readFile(path).catch(() => null);
    if (content === null || !isPicture(content, mediaType)) return null;
    const url = `data:${mediaType};base64,${content.toString('base64')}`;
    this.keep(path, url);
    return url;
  };

  private keep(path: string, url: string): void {
    this.kept.delete(path);
    this.kept.set(path, url);
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= KEPT) break;
      this.kept.delete(oldest);
    }
  }
}

/** How pictures begin, in Latin-1. */
const BEGINNINGS: Readonly<Record<string, (head: string) => boolean>> = {
  'image/png': (head) => head.startsWith('\x89PNG\r\n\x1a\n'),
  'image/jpeg': (head) => head.startsWith('\xff\xd8\xff'),
  'image/gif': (head) => head.startsWith('GIF87a') || head.startsWith('GIF89a'),
  'image/webp': (head) => head.startsWith('RIFF') && head.slice(8, 12) === 'WEBP',
};

/** The agent may have written something else in its place: providers refuse a whole request for one. */
function isPicture(content: Buffer, mediaType: string): boolean {
  return BEGINNINGS[mediaType]?.(content.subarray(0, 12).toString('latin1')) === true;
}
