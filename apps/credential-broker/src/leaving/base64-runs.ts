/** Shortest run of base64 that is decoded, and shortest line of one that goes on. Characters. */
const MIN_RUN = 88;
const MIN_LINE = 60;
const PIECE = 16 * 1024;
const [BREAK, LINE_END] = [-1, -2];

const VALUES = new Int8Array(256).fill(BREAK);
for (const [index, letter] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries())
  VALUES[letter.charCodeAt(0)] = index;
VALUES['-'.charCodeAt(0)] = 62;
VALUES['_'.charCodeAt(0)] = 63;
VALUES['\n'.charCodeAt(0)] = LINE_END;
VALUES['\r'.charCodeAt(0)] = LINE_END;

/** Finds long runs of base64 in a stream, in lines or not, and hands on what they decode to. */
export class Base64Runs {
  private readonly decoded = Buffer.alloc(PIECE);
  private length = 0;
  /** Characters of the run, and of its line. */
  private run = 0;
  private line = 0;
  private bits = 0;

  constructor(private readonly found: (bytes: Buffer) => void) {}

  push(chunk: Uint8Array): void {
    let { run, line, bits, length } = this;
    const { decoded } = this;
    for (let index = 0; index < chunk.length; index += 1) {
      const value = VALUES[chunk[index] as number] as number;
      if (value >= 0) {
        bits = (bits << 6) | value;
        run += 1;
        line += 1;
        if ((run & 3) !== 0) continue;
        decoded[length] = bits >> 16;
        decoded[length + 1] = bits >> 8;
        decoded[length + 2] = bits;
        length += 3;
        if (length > PIECE - 3) {
          this.found(decoded.subarray(0, length));
          length = 0;
        }
      } else if (value === LINE_END && (line >= MIN_LINE || line === 0)) line = 0;
      else if (run > 0) {
        length = this.ended(run, length, bits);
        run = 0;
        line = 0;
      }
    }
    if (run >= MIN_RUN && length > 0) {
      this.found(decoded.subarray(0, length));
      length = 0;
    }
    Object.assign(this, { run, line, bits, length });
  }

  /** A short one is a word. */
  private ended(run: number, length: number, bits: number): number {
    if (run < MIN_RUN) return 0;
    let size = length;
    // The last one or two bytes.
    if ((run & 3) === 3) {
      this.decoded[size] = bits >> 10;
      this.decoded[size + 1] = bits >> 2;
      size += 2;
    } else if ((run & 3) === 2) {
      this.decoded[size] = bits >> 4;
      size += 1;
    }
    if (size > 0) this.found(this.decoded.subarray(0, size));
    return 0;
  }
}
