/**
 * Longest line of an event stream that is parsed. Bytes; a longer one is skipped to its end and no more than this is
 * ever held. The last frame of Responses repeats the whole answer with the instructions and tools of the request.
 */
export const MAX_LINE = 4 * 1024 * 1024;
const LINE_FEED = 0x0a;

/**
 * Cuts an event stream into what stands behind `data:`, one line each, as it comes in chunks of any size. A line that
 * lies within one chunk is not copied. Every provider writes one frame on one line; names of events are repeated in the
 * frames themselves.
 */
export class EventLines {
  /** The beginning of a line whose end has not come, and room for more of it. */
  private rest: Buffer = NOTHING;
  private restLength = 0;
  private skipping = false;

  constructor(
    /**
     * What stands behind `data:`; may begin with a space and end with a carriage return. Its bytes are another line's
     * when this returns.
     */
    private readonly onData: (data: Buffer) => void,
    /** A line was too long to be read. Called once for each. */
    private readonly onTooLong: () => void,
  ) {}

  push(bytes: Buffer): void {
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      if (this.skipping) this.skipping = false;
      else if (this.restLength === 0) this.line(bytes, start, end);
      else if (this.keep(bytes, start, end)) this.kept();
      else this.skipping = false;
      start = end + 1;
    }
    if (start < bytes.length && !this.skipping) this.keep(bytes, start, bytes.length);
  }

  /** The stream has ended: a last line without its end counts. */
  end(): void {
    if (this.restLength > 0 && !this.skipping) this.kept();
  }

  /**
   * `false` when the line became too long, and is skipped. A copy: what is kept must not hold a chunk, which may be far
   * larger.
   */
  private keep(bytes: Buffer, start: number, end: number): boolean {
    const length = this.restLength + end - start;
    if (length > MAX_LINE) {
      this.skipping = true;
      this.rest = NOTHING;
      this.restLength = 0;
      this.onTooLong();
      return false;
    }
    if (length > this.rest.length) {
      const room = Buffer.allocUnsafe(Math.max(length, 2 * this.rest.length, SMALL));
      this.rest.copy(room, 0, 0, this.restLength);
      this.rest = room;
    }
    bytes.copy(this.rest, this.restLength, start, end);
    this.restLength = length;
    return true;
  }

  private kept(): void {
    const { rest, restLength } = this;
    this.restLength = 0;
    if (rest.length > LARGE) this.rest = NOTHING;
    this.line(rest, 0, restLength);
  }

  private line(bytes: Buffer, start: number, end: number): void {
    // "data:" and at least a brace; `d` and the colon distinguish it from all other fields.
    if (end - start < 6 || bytes[start] !== 0x64 || bytes[start + 4] !== 0x3a) return;
    if (end - start > MAX_LINE) this.onTooLong();
    else this.onData(bytes.subarray(start + 5, end));
  }
}

const NOTHING = Buffer.alloc(0);
/** Room for a line that began in another chunk: most frames fit. Bytes. */
const SMALL = 512;
/** Room of this size is not kept for the next line. Bytes. */
const LARGE = 64 * 1024;
