/**
 * Keeps what passes to a caller, up to a limit, for what wants to see it whole afterwards. Bytes are not copied before.
 */
export class Capture {
  private readonly parts: Buffer[] = [];
  private bytes = 0;
  /** There was more than the limit: what is kept is only a beginning. */
  cut = false;

  /** @param limit bytes. */
  constructor(private readonly limit: number) {}

  push(piece: Buffer): void {
    if (this.cut) return;
    this.bytes += piece.length;
    if (this.bytes > this.limit) this.cut = true;
    else this.parts.push(piece);
  }

  body(): Buffer {
    return Buffer.concat(this.parts);
  }
}
