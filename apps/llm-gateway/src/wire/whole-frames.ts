/** Most that is held back for the end of a frame. Bytes; a longer frame goes on as it comes, and may then be cut. */
const MAX_HELD = 16 * 1024;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Lets an event stream go on in whole frames, so that what is sent after a provider broke off in the middle of one can
 * still be read. Half a frame is of no use, so this costs no time. A chunk that ends where a frame ends, as nearly all
 * do, is handed on as it is.
 */
export class WholeFrames {
  private held: Buffer | null = null;

  push(chunk: Buffer): Buffer | null {
    if (this.held === null && endsFrame(chunk, chunk.length)) return chunk;
    const bytes = this.held === null ? chunk : Buffer.concat([this.held, chunk]);
    let end = bytes.length;
    while (end > 0 && !endsFrame(bytes, end)) end = end < 2 ? 0 : bytes.lastIndexOf(LINE_FEED, end - 2) + 1;
    if (bytes.length - end > MAX_HELD) end = bytes.length;
    // A copy: what is held must not keep a whole chunk.
    this.held = end === bytes.length ? null : Buffer.from(bytes.subarray(end));
    return end === 0 ? null : bytes.subarray(0, end);
  }

  /** What is left of a stream that the provider ended without the end of a frame. */
  end(): Buffer | null {
    const { held } = this;
    this.held = null;
    return held;
  }
}

/** An empty line ends there. */
function endsFrame(bytes: Buffer, end: number): boolean {
  if (bytes[end - 1] !== LINE_FEED) return false;
  const before = bytes[end - 2] === CARRIAGE_RETURN ? end - 3 : end - 2;
  return bytes[before] === LINE_FEED;
}
