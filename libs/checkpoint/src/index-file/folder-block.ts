import { crc32 } from 'node:zlib';
import { broken } from '../objects/broken.js';
import { ID_BYTES } from '../objects/content-id.js';

/** Of an entry in the index: what trees have, and what a capture leaves out but must not forget. */
export const ENTRY = { file: 1, folder: 2, link: 3, uncaptured: 4, leftOut: 5 } as const;

/**
 * Numbers of an entry. `back` and `length`: where a folder's own block begins, in bytes before its parent's block, and
 * how long it is. `content`: bytes of the entry that the content hash has.
 */
export const COLUMN = {
  dev: 0,
  ino: 1,
  mode: 2,
  nlink: 3,
  size: 4,
  mtime: 5,
  ctime: 6,
  back: 7,
  length: 8,
  content: 9,
} as const;
export const COLUMNS = 10;
/** Of a folder, behind its entry: its content hash, then the fingerprint of a heavy one or zeros. */
export const FINGERPRINT_BYTES = 16;
export const FOLDER_EXTRA = ID_BYTES + FINGERPRINT_BYTES;

const SUMS = 5;
const HEAD_BYTES = 16 + SUMS * 8 + 2 * ID_BYTES;

/** Over a folder and all below it. `span`: bytes of all their blocks, which lie one after another, this one last. */
export interface Sums {
  readonly span: number;
  readonly files: number;
  readonly bytes: number;
  readonly leftOut: number;
  readonly deferred: number;
}

/**
 * What the index has of one folder: `[crc 4][length 4][count 4][0 4][sums][tree id][content id]`, then columns of
 * numbers, offsets, kinds, and the entries as trees have them. Everything is read in place.
 */
export class FolderBlock {
  readonly count: number;
  readonly sums: Sums;
  readonly numbers: Float64Array;
  private readonly offsets: Uint32Array;
  private readonly kinds: Uint8Array;
  private readonly entriesAt: number;

  /** @param bytes a buffer of its own, so that its columns are aligned. @throws for one that is damaged. */
  constructor(private readonly bytes: Buffer) {
    if (bytes.length < HEAD_BYTES || bytes.readUInt32LE(4) !== bytes.length) throw broken('a block of the index');
    if (crc32(bytes.subarray(4)) !== bytes.readUInt32LE(0)) throw broken('a block of the index is damaged');
    this.count = bytes.readUInt32LE(8);
    const at = bytes.byteOffset;
    const sums = new Float64Array(bytes.buffer, at + 16, SUMS);
    const [span = 0, files = 0, sum = 0, leftOut = 0, deferred = 0] = sums;
    this.sums = { span, files, bytes: sum, leftOut, deferred };
    const numbersAt = at + HEAD_BYTES;
    this.numbers = new Float64Array(bytes.buffer, numbersAt, this.count * COLUMNS);
    const offsetsAt = numbersAt + this.count * COLUMNS * 8;
    this.offsets = new Uint32Array(bytes.buffer, offsetsAt, this.count + 1);
    const kindsAt = offsetsAt + (this.count + 1) * 4;
    this.kinds = new Uint8Array(bytes.buffer, kindsAt, this.count);
    this.entriesAt = kindsAt - at + this.count;
  }

  get tree(): Buffer {
    return this.bytes.subarray(HEAD_BYTES - 2 * ID_BYTES, HEAD_BYTES - ID_BYTES);
  }

  get contentTree(): Buffer {
    return this.bytes.subarray(HEAD_BYTES - ID_BYTES, HEAD_BYTES);
  }

  get length(): number {
    return this.bytes.length;
  }

  kind(index: number): number {
    return this.kinds[index] as number;
  }

  number(index: number, column: number): number {
    return this.numbers[index * COLUMNS + column] as number;
  }

  /** The whole entry, with a folder's extra bytes behind it. */
  entry(index: number): Buffer {
    const from = this.entriesAt + (this.offsets[index] as number);
    return this.bytes.subarray(from, this.entriesAt + (this.offsets[index + 1] as number));
  }

  name(index: number): string {
    const from = this.entriesAt + (this.offsets[index] as number);
    const first = this.bytes[from] as number;
    // A name has at most 255 bytes, so its length has one byte or two.
    const [start, length] =
      first < 0x80 ? [from + 1, first] : [from + 2, (first & 0x7f) + (this.bytes[from + 1] as number) * 0x80];
    return this.bytes.toString('latin1', start, start + length);
  }
}

/** Entries of one folder in the order of their names, until its block is written. */
export class BlockBuilder {
  readonly kinds: number[] = [];
  readonly numbers: number[] = [];
  readonly entries: Buffer[] = [];

  add(kind: number, numbers: ArrayLike<number>, entry: Buffer): void {
    this.kinds.push(kind);
    for (let column = 0; column < COLUMNS; column += 1) this.numbers.push(numbers[column] as number);
    this.entries.push(entry);
  }

  /** As it was in an earlier block. */
  keep(block: FolderBlock, index: number): void {
    this.kinds.push(block.kind(index));
    const from = index * COLUMNS;
    for (let column = 0; column < COLUMNS; column += 1) this.numbers.push(block.numbers[from + column] as number);
    this.entries.push(block.entry(index));
  }

  number(index: number, column: number): number {
    return this.numbers[index * COLUMNS + column] as number;
  }

  set(index: number, column: number, value: number): void {
    this.numbers[index * COLUMNS + column] = value;
  }

  /** `span` of the sums is that of the children; the block's own length is added. */
  block(sums: Sums, tree: Buffer, contentTree: Buffer): Buffer {
    const count = this.kinds.length;
    let size = 0;
    for (const entry of this.entries) size += entry.length;
    const kindsAt = HEAD_BYTES + count * COLUMNS * 8 + (count + 1) * 4;
    const length = Math.ceil((kindsAt + count + size) / 8) * 8;
    const bytes = Buffer.from(new ArrayBuffer(length));
    bytes.writeUInt32LE(length, 4);
    bytes.writeUInt32LE(count, 8);
    new Float64Array(bytes.buffer, 16, SUMS).set([
      sums.span + length,
      sums.files,
      sums.bytes,
      sums.leftOut,
      sums.deferred,
    ]);
    tree.copy(bytes, HEAD_BYTES - 2 * ID_BYTES);
    contentTree.copy(bytes, HEAD_BYTES - ID_BYTES);
    new Float64Array(bytes.buffer, HEAD_BYTES, count * COLUMNS).set(this.numbers);
    const offsets = new Uint32Array(bytes.buffer, HEAD_BYTES + count * COLUMNS * 8, count + 1);
    bytes.set(this.kinds, kindsAt);
    let at = 0;
    for (let index = 0; index < count; index += 1) {
      const entry = this.entries[index] as Buffer;
      bytes.set(entry, kindsAt + count + at);
      at += entry.length;
      offsets[index + 1] = at;
    }
    bytes.writeUInt32LE(crc32(bytes.subarray(4)), 0);
    return bytes;
  }
}
