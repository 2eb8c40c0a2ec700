import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ARCHIVE_PARTS, type ArchivePart } from '@slipway/contracts/agent';
import { SlipwayError } from '@slipway/errors';

/**
 * Which parts of a kept workspace are being put into this sandbox, or were begun and never came to their end. A part
 * that has begun is noted on disk first: half a workspace is never handed out nor saved over a whole one, also after a
 * restart. Only the same part again, to its end, removes the note.
 */
export class Restores {
  private readonly running = new Set<ArchivePart>();

  private constructor(
    private readonly directory: string,
    private readonly begun: Set<ArchivePart>,
  ) {}

  static async open(stateDir: string): Promise<Restores> {
    const directory = path.join(stateDir, 'restores');
    const names: readonly string[] = await readdir(directory).catch(() => []);
    return new Restores(directory, new Set(ARCHIVE_PARTS.filter((part) => names.includes(part))));
  }

  /** Why this sandbox may not be given to anybody now, in a sentence; `null` when it may. */
  get obstacle(): string | null {
    const [running] = this.running;
    return running === undefined
      ? this.damage
      : `The part ${running} of a kept workspace is being put into this sandbox.`;
  }

  /** Why it never may, unless that part comes again. */
  get damage(): string | null {
    const [part] = [...this.begun].filter((part) => !this.running.has(part));
    return part === undefined ? null : `The part ${part} of a kept workspace was not put into this sandbox to its end.`;
  }

  /** @throws SlipwayError `sandbox.archive-broken` while the same part is under way; what `work` throws. */
  async run(part: ArchivePart, work: () => Promise<void>): Promise<void> {
    if (this.running.has(part))
      throw new SlipwayError(
        'sandbox.archive-broken',
        `The part ${part} is being put into this sandbox by another request.`,
      );
    this.running.add(part);
    this.begun.add(part);
    try {
      await mkdir(this.directory, { recursive: true });
      await writeFile(path.join(this.directory, part), '');
      await work();
      await rm(path.join(this.directory, part), { force: true });
      this.begun.delete(part);
    } finally {
      this.running.delete(part);
    }
  }
}
