/** Bytes of one shingle. */
export const SHINGLE_BYTES = 64;
/** Of a shingle, how many bytes differ from the one before; one with fewer says nothing: a line of dashes, spaces. */
const MIN_CHANGES = 16;
/** Order of a shingle that says nothing: after all others. */
const FLAT = 0x7fff_ffff;

/** Called with the fingerprint of a selected shingle, and the place of its last byte. */
export type Selected = (print: number, end: number) => void;

/**
 * Selects shingles of a stream of bytes by winnowing (Schleimer, Wilkerson, Aiken 2003): of each `window` consecutive
 * ones that with the least hash. Whatever has the same `window + 63` bytes has a selected shingle in common, wherever
 * they stand and however the stream is cut. One rolling hash orders them; another one, which says nothing about the
 * order, is the fingerprint.
 */
export class Winnowing {
  private readonly bytes = new Uint8Array(SHINGLE_BYTES);
  private readonly changed = new Uint8Array(SHINGLE_BYTES);
  private readonly orders: Int32Array;
  private readonly prints: Int32Array;
  private order = 0;
  private print = 0;
  private changes = 0;
  private last = 0;
  /** Place of the next byte. */
  private at = 0;
  private least = FLAT;
  private leastAt = -1;

  /** @param window a power of two. */
  constructor(
    readonly window: number,
    private readonly selected: Selected,
  ) {
    this.orders = new Int32Array(window).fill(FLAT);
    this.prints = new Int32Array(window);
  }

  push(chunk: Uint8Array): void {
    const { bytes, changed, orders, prints, window } = this;
    let { order, print, changes, last, at, least, leastAt } = this;
    const mask = window - 1;
    for (let index = 0; index < chunk.length; index += 1) {
      const byte = chunk[index] as number;
      const slot = at & (SHINGLE_BYTES - 1);
      const gone = bytes[slot] as number;
      const isChange = byte === last ? 0 : 1;
      changes += isChange - (changed[slot] as number);
      bytes[slot] = byte;
      changed[slot] = isChange;
      last = byte;
      order = (Math.imul(order, ORDER.factor) + (ORDER.entering[byte] as number) - (ORDER.leaving[gone] as number)) | 0;
      print = (Math.imul(print, PRINT.factor) + (PRINT.entering[byte] as number) - (PRINT.leaving[gone] as number)) | 0;
      if (at >= SHINGLE_BYTES - 1) {
        const value = changes < MIN_CHANGES ? FLAT : order;
        orders[at & mask] = value;
        prints[at & mask] = print;
        if (value < least) {
          least = value;
          leastAt = at;
          this.selected(print >>> 0, at);
        } else if (at - leastAt >= window) {
          least = FLAT;
          for (let back = at; back > at - window; back -= 1) {
            const other = orders[back & mask] as number;
            if (other >= least) continue;
            least = other;
            leastAt = back;
          }
          if (least < FLAT) this.selected((prints[leastAt & mask] as number) >>> 0, leastAt);
          else leastAt = at;
        }
      }
      at += 1;
    }
    Object.assign(this, { order, print, changes, last, at, least, leastAt });
  }
}

interface RollingHash {
  readonly factor: number;
  readonly entering: Int32Array;
  /** Of a byte that leaves the shingle. */
  readonly leaving: Int32Array;
}

/** The numbers are fixed: both sides have the same. They are no secret. */
function rollingHash(factor: number, seed: number): RollingHash {
  const entering = new Int32Array(256);
  const leaving = new Int32Array(256);
  let power = 1;
  for (let count = 0; count < SHINGLE_BYTES; count += 1) power = Math.imul(power, factor);
  let state = seed;
  for (let byte = 0; byte < 256; byte += 1) {
    state = (state + 0x9e37_79b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x85eb_ca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
    // Before the first byte there are zeros, which therefore add nothing.
    entering[byte] = byte === 0 ? 0 : mixed ^ (mixed >>> 16);
    leaving[byte] = Math.imul(entering[byte] as number, power);
  }
  return { factor, entering, leaving };
}

const ORDER = rollingHash(0x2c1b_3c6d, 0x5eed_0001);
const PRINT = rollingHash(0x297a_2d39, 0x5eed_0002);
