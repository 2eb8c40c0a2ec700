/** Smallest memory that is taken; doubled up to the limit. Bytes. */
const FIRST_SIZE = 16 * 1024;
/** How far a line's beginning is searched. Bytes. */
const LONGEST_LINE = 8 * 1024;

/** The last bytes of a stream, at their places in the whole of it. In bounded memory. */
export class Scrollback {
  #ring = Buffer.alloc(0);
  #end = 0;

  /** @param limit most that is kept. Bytes. */
  constructor(private readonly limit: number) {}

  /** Where the oldest byte that is kept stands. */
  get start(): number {
    return Math.max(0, this.#end - this.limit);
  }

  /** Behind the last byte. */
  get end(): number {
    return this.#end;
  }

  /**
   * Where a new viewer begins to read: with all that is kept, or when its beginning was cut, with the first whole line
   * of it.
   */
  get firstLine(): number {
    const { start } = this;
    if (start === 0) return 0;
    const newline = this.slice(start, LONGEST_LINE).indexOf(0x0a);
    return newline < 0 ? start : start + newline + 1;
  }

  push(bytes: Uint8Array): void {
    const kept = bytes.length > this.limit ? bytes.subarray(bytes.length - this.limit) : bytes;
    this.#grow(Math.min(this.limit, this.#end + bytes.length));
    this.#end += bytes.length - kept.length;
    const at = this.#end % this.limit;
    const toEnd = Math.min(kept.length, this.limit - at);
    this.#ring.set(kept.subarray(0, toEnd), at);
    this.#ring.set(kept.subarray(toEnd), 0);
    this.#end += kept.length;
  }

  /** A copy of at most `length` bytes from `from` on, which must not be before `start`. */
  slice(from: number, length: number): Buffer {
    const total = Math.max(0, Math.min(length, this.#end - from));
    const at = from % this.limit;
    const toEnd = Math.min(total, this.limit - at);
    return Buffer.concat([this.#ring.subarray(at, at + toEnd), this.#ring.subarray(0, total - toEnd)], total);
  }

  /** Until the limit is reached nothing has wrapped around: what is there keeps its place. */
  #grow(needed: number): void {
    if (needed <= this.#ring.length) return;
    const larger = Buffer.alloc(Math.min(this.limit, Math.max(FIRST_SIZE, needed, this.#ring.length * 2)));
    this.#ring.copy(larger);
    this.#ring = larger;
  }
}
