import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { BlockPlace, IndexReader, IndexTrailer } from './index-reader.js';
import { INDEX_MAGIC, TRAILER_BYTES } from './index-reader.js';

const PIECE = 256 * 1024;

/**
 * The next index, beside the present one until it is committed. Blocks that stay as they are become ranges of the
 * earlier file: adjacent ones are one copy, and none is made before something new is written.
 */
export class IndexWriter {
  private readonly path: string;
  private readonly file: number;
  private readonly buffer = Buffer.allocUnsafeSlow(PIECE);
  private buffered = 0;
  private written = 0;
  private range: { from: number; length: number } | null = null;

  constructor(
    private readonly target: string,
    private readonly earlier: IndexReader | null,
  ) {
    this.path = `${target}.next`;
    rmSync(this.path, { force: true });
    this.file = openSync(this.path, 'wx', 0o600);
  }

  /** Takes over a block and all below it. Answers where the block itself lies in the new file. */
  keep(place: BlockPlace, span: number): BlockPlace {
    const from = place.start + place.length - span;
    if (this.range !== null && this.range.from + this.range.length === from) this.range.length += span;
    else {
      this.flushRange();
      this.range = { from, length: span };
    }
    return { start: this.end() - place.length, length: place.length };
  }

  /** Takes over a block whose children were kept one after another before it. */
  keepBlock(place: BlockPlace): BlockPlace {
    return this.keep(place, place.length);
  }

  add(block: Buffer): BlockPlace {
    this.flushRange();
    const start = this.end();
    this.append(block);
    return { start, length: block.length };
  }

  /** Where the next block begins. */
  end(): number {
    return this.written + this.buffered + (this.range?.length ?? 0);
  }

  finish(trailer: IndexTrailer): void {
    this.flushRange();
    const bytes = Buffer.from(new ArrayBuffer(TRAILER_BYTES));
    INDEX_MAGIC.copy(bytes);
    new Float64Array(bytes.buffer, 16, 3).set([trailer.top.start, trailer.top.length, trailer.racyFrom]);
    const ids = [trailer.root, trailer.metaTree, trailer.policy];
    for (const [index, id] of ids.entries()) id.copy(bytes, 40 + index * 32);
    bytes.writeUInt32LE(crc32(bytes.subarray(16)), 8);
    this.append(bytes);
    this.flush();
    closeSync(this.file);
  }

  /** Replaces the present index in one step. After `finish`. */
  commit(): void {
    renameSync(this.path, this.target);
  }

  discard(): void {
    rmSync(this.path, { force: true });
  }

  /** Before `finish`: gives up. */
  abort(): void {
    closeSync(this.file);
    this.discard();
  }

  private flushRange(): void {
    if (this.range === null) return;
    let { from, length } = this.range;
    this.range = null;
    while (length > 0) {
      if (this.buffered === PIECE) this.flush();
      const part = Math.min(length, PIECE - this.buffered);
      this.earlier?.read(this.buffer.subarray(this.buffered, this.buffered + part), from);
      this.buffered += part;
      from += part;
      length -= part;
    }
  }

  private append(bytes: Buffer): void {
    if (bytes.length > PIECE - this.buffered) this.flush();
    if (bytes.length > PIECE) {
      this.write(bytes);
      return;
    }
    bytes.copy(this.buffer, this.buffered);
    this.buffered += bytes.length;
  }

  private flush(): void {
    const length = this.buffered;
    this.buffered = 0;
    this.write(this.buffer.subarray(0, length));
  }

  private write(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) at += writeSync(this.file, bytes, at);
    this.written += bytes.length;
  }
}
