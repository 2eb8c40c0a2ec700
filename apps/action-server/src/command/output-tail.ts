import { ONLY_THE_END } from '@slipway/contracts/actions';

/** Most of one stream that is kept. Bytes. */
export const MAX_STREAM_BYTES = 1024 * 1024;

const MARK_BYTES = Buffer.byteLength(ONLY_THE_END);

/** The last bytes of a stream, MAX_STREAM_BYTES with the mark before those of a longer one. */
export class OutputTail {
  #chunks: Buffer[] = [];
  #length = 0;
  #cut = false;

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    while (this.#length - (this.#chunks[0] as Buffer).length >= MAX_STREAM_BYTES) {
      this.#length -= (this.#chunks.shift() as Buffer).length;
      this.#cut = true;
    }
  }

  /** Bytes that are not UTF-8 become U+FFFD; the cut never leaves half of a character. */
  text(): string {
    const bytes = Buffer.concat(this.#chunks);
    if (!this.#cut && bytes.length <= MAX_STREAM_BYTES) return bytes.toString();
    let kept = bytes.subarray(Math.max(0, bytes.length - MAX_STREAM_BYTES + MARK_BYTES));
    while (kept.length > 0 && ((kept[0] as number) & 0xc0) === 0x80) kept = kept.subarray(1);
    return `${ONLY_THE_END}${kept.toString()}`;
  }
}
