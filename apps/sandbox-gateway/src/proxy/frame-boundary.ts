/** Longest header of a frame: two bytes, eight of length, four of mask. Bytes. */
const LONGEST_HEADER = 14;
const CLOSE = 0x8;
/** The opcodes of control frames begin here. */
const CONTROL = 0x8;

/**
 * Where the frames of one direction of a WebSocket end (RFC 6455, 5.2), read from its bytes as they pass and without
 * keeping any: only between two frames may a proxy add one of their own, and that also in the middle of a fragmented
 * message, when it is a control frame.
 */
export class FrameBoundary {
  private readonly header = Buffer.alloc(LONGEST_HEADER);
  private headerLength = 0;
  /** What is to come of the payload. Bytes. */
  private rest = 0;
  #closed = false;

  /** @param data called for each frame with data, by the length of its payload, when its header has passed. Bytes. */
  constructor(private readonly data: (length: number) => void = () => {}) {}

  /** The last byte that passed was the last one of a frame. */
  get between(): boolean {
    return this.rest === 0 && this.headerLength === 0;
  }

  /** A close frame has passed: nothing may follow it. */
  get closed(): boolean {
    return this.#closed;
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.rest > 0) {
        const taken = Math.min(this.rest, chunk.length - at);
        this.rest -= taken;
        at += taken;
        continue;
      }
      this.header[this.headerLength] = chunk[at] as number;
      this.headerLength += 1;
      at += 1;
      this.readHeader();
    }
  }

  private readHeader(): void {
    if (this.headerLength < 2) return;
    const { header } = this;
    const second = header[1] as number;
    const short = second & 0x7f;
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
    if (this.headerLength < 2 + lengthBytes + ((second & 0x80) === 0 ? 0 : 4)) return;
    this.rest =
      lengthBytes === 0
        ? short
        : lengthBytes === 2
          ? header.readUInt16BE(2)
          : header.readUInt32BE(2) * 2 ** 32 + header.readUInt32BE(6);
    const opcode = (header[0] as number) & 0x0f;
    if (opcode === CLOSE) this.#closed = true;
    this.headerLength = 0;
    if (opcode < CONTROL) this.data(this.rest);
  }
}

/** A close frame as a server sends it. @param reason at most 123 bytes. */
export function closeFrame(code: number, reason: string): Buffer {
  const text = Buffer.from(reason);
  const frame = Buffer.alloc(4 + text.length);
  frame[0] = 0x80 | CLOSE;
  frame[1] = 2 + text.length;
  frame.writeUInt16BE(code, 2);
  text.copy(frame, 4);
  return frame;
}
