import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, readFile, rename, unlink } from 'node:fs/promises';
import path from 'node:path';
import { LedgerEntry, type LedgerInput } from './ledger-entry.js';

/**
 * Entries on disk until they are in Postgres, one JSON line each, in segments that are removed whole.
 *
 * A line is written (not synced) within the event-loop turn after its call: a killed process loses none of the calls
 * before that, a machine that loses power may lose the last seconds. The folder belongs to one process at a time.
 */
export class LedgerSpool {
  private current: { readonly file: string; readonly handle: FileHandle } | null = null;
  private waiting: LedgerInput[] = [];
  private writes: Promise<void> = Promise.resolve();

  constructor(
    private readonly directory: string,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Takes an entry in; it is in the file soon after. A disk that fails is reported and does not stop the call. */
  append(entry: LedgerInput): void {
    this.waiting.push(entry);
    if (this.waiting.length > 1) return;
    setImmediate(() => {
      this.writes = this.writes.then(() => this.write()).catch(this.onError);
    });
  }

  /**
   * Ends the segment that is being written. Everything appended before this call is in the segments that are answered.
   */
  async seal(): Promise<string[]> {
    this.writes = this.writes.then(() => this.write()).catch(this.onError);
    await this.writes;
    const { current } = this;
    this.current = null;
    if (current === null) return [];
    try {
      await current.handle.close();
    } catch (error) {
      this.onError(error);
    }
    return [current.file];
  }

  async remove(segments: readonly string[]): Promise<void> {
    for (const segment of segments) {
      await unlink(segment).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') this.onError(error);
      });
    }
  }

  /** There are lines that no `seal` has ended yet. */
  get open(): boolean {
    return this.current !== null || this.waiting.length > 0;
  }

  /** Segments left by a previous process, oldest first. Makes the folder. */
  async leftOver(): Promise<string[]> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    const files = (await readdir(this.directory)).filter((file) => file.endsWith('.jsonl')).sort();
    return files.map((file) => path.join(this.directory, file)).filter((file) => file !== this.current?.file);
  }

  /**
   * Entries of a segment. A last line that was cut off by a kill is left out; any other line that does not read puts
   * the file aside as `.unreadable`.
   */
  async read(segment: string): Promise<LedgerEntry[]> {
    const lines = (await readFile(segment, 'utf8')).split('\n');
    const last = lines.pop() ?? '';
    if (last !== '') this.onError(new Error(`the last line of ${segment} was cut off`));
    const entries: LedgerEntry[] = [];
    let unreadable = 0;
    for (const line of lines) {
      try {
        entries.push(LedgerEntry.parse(JSON.parse(line)));
      } catch {
        unreadable += 1;
      }
    }
    if (unreadable > 0) {
      this.onError(
        new Error(`${unreadable} lines of ${segment} cannot be read; the file is kept as ${segment}.unreadable`),
      );
      await rename(segment, `${segment}.unreadable`);
    }
    return entries;
  }

  private async write(): Promise<void> {
    const entries = this.waiting;
    if (entries.length === 0) return;
    this.waiting = [];
    if (this.current === null) {
      const file = path.join(this.directory, `${Date.now()}-${randomUUID()}.jsonl`);
      this.current = { file, handle: await open(file, 'a', 0o600) };
    }
    await this.current.handle.appendFile(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  }
}
