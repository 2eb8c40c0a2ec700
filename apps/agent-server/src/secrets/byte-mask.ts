import type { SecretMask } from './secret-mask.js';

/**
 * Most of a secret's beginning that is shown before it is known to be one. Bytes: typed input shows at once, though a
 * secret may begin with it. A secret that is printed in pieces shows as these and `<secret:NAME>` behind them.
 */
const SHOWN_AHEAD = 3;

/**
 * Bytes on their way to a user's terminal, wherever they are cut: a secret that is split over several pieces is hidden
 * too. What may be the beginning of one is held back until the next piece, but for its first `SHOWN_AHEAD` bytes; what
 * is held when the stream ends is not shown.
 */
export class ByteMask {
  #held = '';
  /** How `#held` begins that has been shown already. */
  #ahead = '';

  constructor(private readonly mask: SecretMask) {}

  /** What can be shown now; may be empty. */
  next(bytes: Uint8Array): Buffer {
    const { shown, held } = this.mask.bytePiece(
      this.#held + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1'),
    );
    const known = commonLength(this.#ahead, shown + held);
    this.#held = held;
    this.#ahead = held.slice(0, Math.max(SHOWN_AHEAD, known - shown.length));
    return Buffer.from((shown + this.#ahead).slice(known), 'latin1');
  }
}

function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}
