/**
 * Longest line of an event stream that is looked into. Bytes; a longer one is skipped to its end and no more than this is ever held.
 * The last frame of Responses repeats the whole answer with the instructions and tools of the request.
 */
export const MAX_LINE = 4 * 1024 * 1024;
const LINE_FEED = 0x0a;

/**
 * Cuts an event stream into what stands behind `data:`, one line each, as it comes in chunks of any size. A line that lies within one chunk is not copied.
 * Every provider writes one frame on one line; names of events are repeated in the frames themselves.
 */
export class EventLines {
  private rest: Buffer[] = [];
  private restLength = 0;
  private skipping = false;

  constructor(
    /** What stands behind `data:`; may begin with a space and end with a carriage return. */
    private readonly onData: (data: Buffer) => void,
    /** A line was too long to be read. Called once for each. */
    private readonly onTooLong: () => void,
  ) {}

  push(bytes: Buffer): void {
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      if (this.skipping) this.skipping = false;
      else if (this.restLength === 0) this.line(bytes, start, end);
      else {
        this.rest.push(bytes.subarray(start, end));
        this.restOf();
      }
      start = end + 1;
    }
    if (start >= bytes.length || this.skipping) return;
    // A copy: what is kept must not hold the whole chunk, which may be far larger.
    this.rest.push(Buffer.from(bytes.subarray(start)));
    this.restLength += bytes.length - start;
    if (this.restLength <= MAX_LINE) return;
    this.skipping = true;
    this.rest = [];
    this.restLength = 0;
    this.onTooLong();
  }

  /** The stream has ended: a last line without its end counts. */
  end(): void {
    if (this.restLength > 0 && !this.skipping) this.restOf();
  }

  private restOf(): void {
    const line = this.rest.length === 1 && this.rest[0] !== undefined ? this.rest[0] : Buffer.concat(this.rest);
    this.rest = [];
    this.restLength = 0;
    this.line(line, 0, line.length);
  }

  private line(bytes: Buffer, start: number, end: number): void {
    // "data:" and at least a brace; `d` and the colon tell it from all other fields.
    if (end - start < 6 || bytes[start] !== 0x64 || bytes[start + 4] !== 0x3a) return;
    if (end - start > MAX_LINE) this.onTooLong();
    else this.onData(bytes.subarray(start + 5, end));
  }
}
