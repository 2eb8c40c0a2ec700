/** Bytes of the length that each line begins with. */
const LENGTH_BYTES = 4;
const MAX_LINE_BYTES = 65_520;

/** `null` is a flush. */
export type PktLine = Buffer | null;

/** Splits bytes of git's protocol into its lines, however they arrive. */
export class PktLineReader {
  private held: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): void {
    this.held = this.held.length === 0 ? chunk : Buffer.concat([this.held, chunk]);
  }

  /** Bytes that no line was read of yet. */
  get rest(): Buffer {
    return this.held;
  }

  /** @returns `undefined` until the next line is complete. @throws Error at what is no line before a flush. */
  next(): PktLine | undefined {
    if (this.held.length < LENGTH_BYTES) return undefined;
    const text = this.held.toString('latin1', 0, LENGTH_BYTES);
    const length = /^[0-9a-fA-F]{4}$/.test(text) ? Number.parseInt(text, 16) : Number.NaN;
    if (length === 0) {
      this.held = this.held.subarray(LENGTH_BYTES);
      return null;
    }
    if (!(length >= LENGTH_BYTES && length <= MAX_LINE_BYTES)) throw new Error('not a line of git’s protocol');
    if (this.held.length < length) return undefined;
    const line = this.held.subarray(LENGTH_BYTES, length);
    this.held = this.held.subarray(length);
    return line;
  }
}

/** @param payload at most 65,516 bytes. */
export function pktLine(payload: Buffer | string): Buffer {
  const bytes = Buffer.from(payload);
  return Buffer.concat([Buffer.from((bytes.length + LENGTH_BYTES).toString(16).padStart(LENGTH_BYTES, '0')), bytes]);
}

export const FLUSH = Buffer.from('0000');
