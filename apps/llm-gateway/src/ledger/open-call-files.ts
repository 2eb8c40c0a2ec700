import { randomUUID } from 'node:crypto';
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { mkdir, readdir, readFile, unlink } from 'node:fs/promises';
import path from 'node:path';
import { LedgerEntry, type LedgerInput } from './ledger-entry.js';

/** A file of this size is followed by another. Bytes. */
const FULL = 1024 * 1024;

interface OpenFile {
  readonly name: string;
  readonly handle: number;
  bytes: number;
  /** Calls in it that have no row in the ledger yet. */
  open: number;
}

/**
 * Calls under way on disk, one JSON line each, in files that are removed whole once none of their calls needs them.
 *
 * A line is with the kernel before its call is sent (2 µs): a killed process loses none. It is not synced: a machine
 * that loses power may lose the last seconds. The folder belongs to one process at a time.
 */
export class OpenCallFiles {
  private current: OpenFile | null = null;

  constructor(
    private readonly directory: string,
    private readonly onError: (error: unknown) => void,
  ) {}

  /**
   * Writes a call down. Answers what must be called once, when the call no longer needs its line.
   * @throws the system's error when the disk takes no more: nothing that can be read back was written.
   */
  write(entry: LedgerInput): () => void {
    const file = this.fileWithRoom();
    const line = Buffer.from(`${JSON.stringify(entry)}\n`);
    const written = writeSync(file.handle, line);
    file.bytes += written;
    if (written < line.length) {
      // What was cut off ends as a line that does not read, and the next call gets a file of its own.
      this.retire(file);
      throw new Error(`the disk took ${written} of ${line.length} bytes`);
    }
    file.open += 1;
    return () => {
      file.open -= 1;
      if (file.open === 0 && file !== this.current) this.remove(file.name);
    };
  }

  /** Closes this process's files. Those with calls that still need them stay. */
  close(): void {
    if (this.current !== null) this.retire(this.current);
  }

  /** Files left by a previous process, oldest first. Makes the folder. */
  async leftOver(): Promise<string[]> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    const files = (await readdir(this.directory)).filter((name) => name.endsWith('.jsonl')).sort();
    return files.map((name) => path.join(this.directory, name)).filter((name) => name !== this.current?.name);
  }

  /**
   * Calls of a file. A line that does not read is left out and reported: it is the last one of a process that was
   * killed while it wrote.
   */
  async read(file: string): Promise<LedgerEntry[]> {
    return (await readFile(file, 'utf8')).split('\n').flatMap((line) => {
      if (line === '') return [];
      try {
        return [LedgerEntry.parse(JSON.parse(line))];
      } catch (error) {
        this.onError(new Error(`a line of ${file} cannot be read`, { cause: error }));
        return [];
      }
    });
  }

  async forget(file: string): Promise<void> {
    await unlink(file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') this.onError(error);
    });
  }

  private fileWithRoom(): OpenFile {
    if (this.current !== null && this.current.bytes < FULL) return this.current;
    if (this.current !== null) this.retire(this.current);
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    const name = path.join(this.directory, `${Date.now()}-${randomUUID()}.jsonl`);
    this.current = { name, handle: openSync(name, 'a', 0o600), bytes: 0, open: 0 };
    return this.current;
  }

  private retire(file: OpenFile): void {
    if (this.current === file) this.current = null;
    try {
      closeSync(file.handle);
    } catch (error) {
      this.onError(error);
    }
    if (file.open === 0) this.remove(file.name);
  }

  private remove(file: string): void {
    void this.forget(file);
  }
}
