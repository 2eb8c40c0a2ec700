import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { cutAt, HOLE_BYTES, isHole } from '../chunks/gear-chunks.js';
import { contentIdOf } from '../objects/content-id.js';
import { MAX_CHUNK_BYTES, ONE_CHUNK_BYTES } from '../objects/limits.js';
import type { Chunk } from '../tree/tree-entry.js';
import type { SentObjects } from './sent-objects.js';
import type { Slices } from './slices.js';
import { equalStats } from './stat-numbers.js';

/** A pipe that took a file's place must not hold the open up, and a link must not be followed. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
/** Readings of a file that is written to meanwhile. */
const TRIES = 3;
/** Read at a time of a large file. Bytes. */
const PIECE = 1024 * 1024;

export interface ReadFile {
  readonly chunks: readonly Chunk[];
  readonly stat: Stats;
  /** Written to during each reading. */
  readonly torn: boolean;
}

/** What is not to be had: `gone` between the look at its folder and the opening, or not ours to read. */
export type NotRead = 'gone' | 'unreadable' | 'special';

interface Content {
  readonly chunks: readonly Chunk[];
  /** Whether it was as long as it said. */
  readonly whole: boolean;
}

/** Reads files of any length with the memory of one chunk, and gives their chunks on. */
export class FileReader {
  private readonly small = Buffer.allocUnsafeSlow(ONE_CHUNK_BYTES + 1);
  private readonly large = { buffer: null as Buffer | null };

  constructor(
    private readonly table: Int32Array,
    private readonly objects: SentObjects,
    private readonly slices: Slices,
  ) {}

  /** @param had ids of chunks that need not be given on. */
  async read(path: string | Buffer, had: ReadonlySet<string>): Promise<ReadFile | NotRead> {
    let file: number;
    try {
      file = openSync(path, FLAGS);
    } catch (error) {
      return notRead(error);
    }
    try {
      for (let tries = 1; ; tries += 1) {
        const before = fstatSync(file);
        if (!before.isFile()) return 'special';
        const { chunks, whole } = await this.contentOf(file, before.size, had);
        const after = fstatSync(file);
        const quiet = whole && equalStats(before, after);
        if (quiet || tries === TRIES) return { chunks, stat: after, torn: !quiet };
      }
    } catch (error) {
      return notRead(error);
    } finally {
      closeSync(file);
    }
  }

  private async contentOf(file: number, size: number, had: ReadonlySet<string>): Promise<Content> {
    if (size > ONE_CHUNK_BYTES) return await this.largeContent(file, size, had);
    let length = 0;
    for (let read = 1; read > 0 && length < this.small.length; length += read)
      read = readSync(file, this.small, length, this.small.length - length, length);
    const bytes = this.small.subarray(0, Math.min(length, ONE_CHUNK_BYTES));
    const chunks = bytes.length === 0 ? [] : [await this.chunk(bytes, had)];
    return { chunks, whole: length === size };
  }

  private async chunk(bytes: Buffer, had: ReadonlySet<string>): Promise<Chunk> {
    const id = contentIdOf(bytes);
    if (!had.has(id)) {
      const given = this.objects.put('chunk', bytes, id);
      if (typeof given !== 'string') await given;
    }
    return { id, length: bytes.length };
  }

  /** Whole aligned blocks of zeros are holes; what lies between two holes is cut by content. */
  private async largeContent(file: number, size: number, had: ReadonlySet<string>): Promise<Content> {
    this.large.buffer ??= Buffer.allocUnsafeSlow(MAX_CHUNK_BYTES + PIECE);
    const buffer = this.large.buffer;
    const chunks: Chunk[] = [];
    let [at, held, hole] = [0, 0, 0];
    const cut = async (least: number): Promise<void> => {
      while (held >= least && held > 0) {
        const length = cutAt(this.table, buffer.subarray(0, held));
        chunks.push(await this.chunk(buffer.subarray(0, length), had));
        buffer.copyWithin(0, length, held);
        held -= length;
        if (this.slices.due()) await this.slices.turn();
      }
    };
    while (at < size) {
      const read = readSync(file, buffer, held, Math.min(PIECE, size - at), at);
      if (read === 0) break;
      at += read;
      const end = held + read;
      for (let from = held; from < end; from += HOLE_BYTES) {
        const block = buffer.subarray(from, Math.min(from + HOLE_BYTES, end));
        if (isHole(block)) {
          await cut(1);
          hole += block.length;
        } else {
          if (hole > 0) chunks.push({ id: null, length: hole });
          hole = 0;
          block.copy(buffer, held);
          held += block.length;
        }
      }
      await cut(MAX_CHUNK_BYTES);
      if (this.slices.due()) await this.slices.turn();
    }
    await cut(1);
    if (hole > 0) chunks.push({ id: null, length: hole });
    return { chunks, whole: at === size };
  }
}

function notRead(error: unknown): NotRead {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
    case 'ENOTDIR':
    case 'ESTALE':
      return 'gone';
    case 'ELOOP':
    case 'ENXIO':
    case 'ENODEV':
      return 'special';
    case 'EACCES':
    case 'EPERM':
    case 'EIO':
      return 'unreadable';
    default:
      throw error;
  }
}
