import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { broken } from '../objects/broken.js';
import { COLUMN, ENTRY, FolderBlock } from './folder-block.js';

export const INDEX_MAGIC = Buffer.from('SLWYIDX1');
/** `[magic 8][crc 4][0 4][top start, top length, racy from: doubles][root, meta tree, policy: 32 each]` */
export const TRAILER_BYTES = 16 + 24 + 3 * 32;

export interface BlockPlace {
  readonly start: number;
  readonly length: number;
}

export interface IndexTrailer {
  /** The block whose entries are the roots. */
  readonly top: BlockPlace;
  /** Entries whose ctime is not before this are looked at again. Milliseconds since 1970. */
  readonly racyFrom: number;
  readonly root: Buffer;
  readonly metaTree: Buffer;
  readonly policy: Buffer;
}

/** The index of an earlier capture. Blocks are read when they are asked for: the memory of a folder. */
export class IndexReader {
  private constructor(
    private readonly file: number,
    readonly trailer: IndexTrailer,
  ) {}

  /** `null` for one that is not there, cut, of another format or damaged in its trailer. */
  static open(path: string): IndexReader | null {
    let file: number;
    try {
      file = openSync(path, 'r');
    } catch {
      return null;
    }
    try {
      return new IndexReader(file, readTrailer(file));
    } catch {
      closeSync(file);
      return null;
    }
  }

  /** @throws SlipwayError `checkpoint.broken` for a damaged one. */
  block({ start, length }: BlockPlace): FolderBlock {
    const bytes = Buffer.from(new ArrayBuffer(length));
    if (readSync(this.file, bytes, 0, length, start) !== length) throw broken('the index is cut');
    return new FolderBlock(bytes);
  }

  read(target: Buffer, start: number): void {
    if (readSync(this.file, target, 0, target.length, start) !== target.length) throw broken('the index is cut');
  }

  /** Every block, parents first. */
  *blocks(): Generator<FolderBlock, void> {
    const open: BlockPlace[] = [this.trailer.top];
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      const block = this.block(place);
      yield block;
      for (let index = 0; index < block.count; index += 1)
        if (block.kind(index) === ENTRY.folder) open.push(childOf(place, block, index));
    }
  }

  close(): void {
    closeSync(this.file);
  }
}

/** Where the block of an entry lies that is a folder. */
export function childOf(place: BlockPlace, block: FolderBlock, index: number): BlockPlace {
  return { start: place.start - block.number(index, COLUMN.back), length: block.number(index, COLUMN.length) };
}

function readTrailer(file: number): IndexTrailer {
  const { size } = fstatSync(file);
  const bytes = Buffer.from(new ArrayBuffer(TRAILER_BYTES));
  if (readSync(file, bytes, 0, TRAILER_BYTES, size - TRAILER_BYTES) !== TRAILER_BYTES) throw broken('the index is cut');
  if (!bytes.subarray(0, 8).equals(INDEX_MAGIC)) throw broken('the index has another format');
  if (crc32(bytes.subarray(16)) !== bytes.readUInt32LE(8)) throw broken('the index is damaged');
  const [start = 0, length = 0, racyFrom = 0] = new Float64Array(bytes.buffer, 16, 3);
  if (start < 0 || length <= 0 || start + length > size) throw broken('the index is damaged');
  const id = (index: number): Buffer => bytes.subarray(40 + index * 32, 72 + index * 32);
  return { top: { start, length }, racyFrom, root: id(0), metaTree: id(1), policy: id(2) };
}
