import { open } from 'node:fs/promises';
import { MAX_IMAGES_LENGTH } from '@slipway/contracts/actions';
import { type ImageContent } from '@slipway/contracts/events';
import { SlipwayError } from '@slipway/errors';
import { NEVER_WAITING } from './text-file.js';

/** Largest picture that is shown: as a data URL it must fit into an observation. Bytes. */
const MAX_PICTURE_BYTES = Math.floor(((MAX_IMAGES_LENGTH - 100) * 3) / 4);

/** What the first bytes of a picture are, in Latin-1. */
const SIGNATURES: ReadonlyArray<readonly [(head: string) => boolean, string]> = [
  [(head) => head.startsWith('\x89PNG\r\n\x1a\n'), 'image/png'],
  [(head) => head.startsWith('\xff\xd8\xff'), 'image/jpeg'],
  [(head) => head.startsWith('GIF87a') || head.startsWith('GIF89a'), 'image/gif'],
  [(head) => head.startsWith('RIFF') && head.slice(8, 12) === 'WEBP', 'image/webp'],
];

/** Bytes of a file's beginning that reveal its image format. */
export const PICTURE_HEAD_BYTES = 16;

/** The media type of what begins so; `undefined` when it is no picture. */
export function pictureType(head: Buffer): string | undefined {
  const first = head.toString('latin1');
  return SIGNATURES.find(([signature]) => signature(first))?.[1];
}

/**
 * The file as a picture, by what is in it and not by its name; `undefined` for what is none. @throws SlipwayError
 * `file.too-large`.
 */
export async function readPicture(
  file: string,
): Promise<{ content: ImageContent; type: string; bytes: number } | undefined> {
  const handle = await open(file, NEVER_WAITING);
  try {
    const { size } = await handle.stat();
    const first = Buffer.alloc(PICTURE_HEAD_BYTES);
    const { bytesRead } = await handle.read(first, 0, first.length, 0);
    const type = pictureType(first.subarray(0, bytesRead));
    if (type === undefined) return undefined;
    if (size > MAX_PICTURE_BYTES)
      throw new SlipwayError(
        'file.too-large',
        `${file} is a picture of ${Math.ceil(size / 1024)} KiB; up to ${Math.floor(MAX_PICTURE_BYTES / 1024)} KiB can be shown. Make a smaller copy in the terminal and view that.`,
      );
    const bytes = Buffer.alloc(size);
    await handle.read(bytes, 0, size, 0);
    return {
      content: { type: 'image', image_urls: [`data:${type};base64,${bytes.toString('base64')}`] },
      type,
      bytes: size,
    };
  } finally {
    await handle.close();
  }
}
