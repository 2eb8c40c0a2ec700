import { tooLarge } from './broken.js';

/** Bytes one after another, in a buffer that grows up to a limit. */
export class ByteWriter {
  private buffer = Buffer.allocUnsafe(1_024);
  length = 0;

  /** @param limit bytes; one more throws `checkpoint.too-large`. */
  constructor(private readonly limit: number) {}

  byte(value: number): void {
    this.room(1);
    this.buffer[this.length] = value;
    this.length += 1;
  }

  /** Unsigned LEB128 of an integer up to 2^53 - 1. */
  varint(value: number): void {
    this.room(8);
    let left = value;
    while (left >= 0x80) {
      this.buffer[this.length] = (left % 0x80) | 0x80;
      this.length += 1;
      left = Math.floor(left / 0x80);
    }
    this.buffer[this.length] = left;
    this.length += 1;
  }

  /** A signed integer between -(2^52) and 2^52 - 1: its sign is the lowest bit. */
  signed(value: number): void {
    this.varint(value < 0 ? -value * 2 - 1 : value * 2);
  }

  bytes(value: Uint8Array): void {
    this.room(value.length);
    this.buffer.set(value, this.length);
    this.length += value.length;
  }

  /** A string with one byte a character, after its length. */
  text(value: string): void {
    this.varint(value.length);
    this.room(value.length);
    this.length += this.buffer.write(value, this.length, value.length, 'latin1');
  }

  hex(value: string): void {
    this.room(value.length / 2);
    this.length += this.buffer.write(value, this.length, value.length / 2, 'hex');
  }

  /** The bytes so far, in the writer's own memory: valid until the next write or reset. */
  view(from = 0): Buffer {
    return this.buffer.subarray(from, this.length);
  }

  copy(): Buffer {
    return Buffer.from(this.view());
  }

  reset(): void {
    this.length = 0;
  }

  private room(count: number): void {
    const wanted = this.length + count;
    if (wanted <= this.buffer.length) return;
    if (wanted > this.limit) throw tooLarge(`more than ${this.limit} bytes in one folder`);
    const grown = Buffer.allocUnsafe(Math.min(this.limit, Math.max(wanted, this.buffer.length * 2)));
    grown.set(this.view());
    this.buffer = grown;
  }
}
