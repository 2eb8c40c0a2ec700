import { broken } from './broken.js';

/** Reads what `ByteWriter` wrote, and refuses what it would not have written. What is left bounds every length. */
export class ByteReader {
  position = 0;
  private readonly buffer: Buffer;

  constructor(bytes: Uint8Array) {
    this.buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.buffer.length - this.position;
  }

  byte(): number {
    const value = this.buffer[this.position];
    if (value === undefined) throw broken('it ends too early');
    this.position += 1;
    return value;
  }

  /** In its shortest form only, and at most 2^53 - 1. */
  varint(): number {
    let [value, scale] = [0, 1];
    for (;;) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (value > Number.MAX_SAFE_INTEGER) throw broken('a number is out of range');
      if (byte < 0x80) {
        if (byte === 0 && scale > 1) throw broken('a number is not in its shortest form');
        return value;
      }
      scale *= 0x80;
      if (scale > 2 ** 49) throw broken('a number is out of range');
    }
  }

  signed(): number {
    const value = this.varint();
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
  }

  /** A view, not a copy. */
  bytes(length: number): Buffer {
    if (length > this.left) throw broken('it ends too early');
    this.position += length;
    return this.buffer.subarray(this.position - length, this.position);
  }

  /** One byte a character. @param most bytes; a longer one is refused before it is read. */
  text(most: number): string {
    const length = this.varint();
    if (length > most) throw broken('a name or path is too long');
    return this.bytes(length).toString('latin1');
  }

  hex(length: number): string {
    return this.bytes(length).toString('hex');
  }
}
