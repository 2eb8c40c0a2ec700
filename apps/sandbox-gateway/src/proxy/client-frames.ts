import { Transform, type TransformCallback } from 'node:stream';

const TEXT = 0x1;
/** The opcodes of control frames begin here. */
const CONTROL = 0x8;
/**
 * A longer frame is not read, and goes through `admit` as `null`. Bytes of payload; what a client says beside messages
 * is far shorter.
 */
const LONGEST_READ = 64 * 1024;

/**
 * Before a frame of data goes on, and again before the end of one that came in pieces: its text, or `null` when it is
 * no whole text of a moderate length. Rejects to let neither it nor anything after it through.
 */
export type AdmitFrame = (text: string | null) => Promise<void>;

interface Header {
  readonly opcode: number;
  readonly final: boolean;
  readonly mask: Buffer | null;
  /** Bytes. */
  readonly headerLength: number;
  readonly payloadLength: number;
}

/**
 * The bytes of a WebSocket's client (RFC 6455, 5.2) on their way, unchanged; each frame of data waits until it is
 * admitted. Errors with the reason when one is not.
 */
export class ClientFrames extends Transform {
  private kept: Buffer[] = [];
  private keptLength = 0;
  /** Nothing can be said of what is kept before there is so much of it. Bytes. */
  private needed = 2;
  /** What is to come of an admitted frame. Bytes. */
  private passing = 0;
  private passesData = false;

  constructor(private readonly admit: AdmitFrame) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.readFrames(chunk).then(() => done(), done);
  }

  private async readFrames(chunk: Buffer): Promise<void> {
    // The end of a frame makes it one: it may come long after its beginning.
    if (this.passesData && this.passing > 0 && chunk.length >= this.passing) await this.admit(null);
    let data = this.passOn(chunk);
    if (data.length === 0) return;
    this.kept.push(data);
    this.keptLength += data.length;
    if (this.keptLength < this.needed) return;
    data = Buffer.concat(this.kept);
    while (data.length > 0) {
      const header = headerOf(data);
      this.needed = header === null ? data.length + 1 : neededOf(header);
      if (header === null || data.length < this.needed) break;
      if (header.opcode < CONTROL) await this.admit(textOf(data, header));
      this.passesData = header.opcode < CONTROL;
      this.passing = header.headerLength + header.payloadLength;
      data = this.passOn(data);
    }
    this.kept = data.length === 0 ? [] : [data];
    this.keptLength = data.length;
    if (data.length === 0) this.needed = 2;
  }

  /** @returns what does not belong to an admitted frame. */
  private passOn(data: Buffer): Buffer {
    const length = Math.min(this.passing, data.length);
    if (length > 0) this.push(data.subarray(0, length));
    this.passing -= length;
    return data.subarray(length);
  }
}

function headerOf(data: Buffer): Header | null {
  if (data.length < 2) return null;
  const [first, second] = [data[0] as number, data[1] as number];
  const short = second & 0x7f;
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  const masked = (second & 0x80) !== 0;
  const headerLength = 2 + lengthBytes + (masked ? 4 : 0);
  if (data.length < headerLength) return null;
  const payloadLength =
    lengthBytes === 0
      ? short
      : lengthBytes === 2
        ? data.readUInt16BE(2)
        : data.readUInt32BE(2) * 2 ** 32 + data.readUInt32BE(6);
  return {
    opcode: first & 0x0f,
    final: (first & 0x80) !== 0,
    mask: masked ? data.subarray(headerLength - 4, headerLength) : null,
    headerLength,
    payloadLength,
  };
}

function isRead({ opcode, final, payloadLength }: Header): boolean {
  return final && opcode === TEXT && payloadLength <= LONGEST_READ;
}

/** How much of a frame must be here before it is admitted. Bytes. */
function neededOf(header: Header): number {
  return header.headerLength + (isRead(header) ? header.payloadLength : 0);
}

function textOf(data: Buffer, header: Header): string | null {
  if (!isRead(header)) return null;
  const { mask, headerLength, payloadLength } = header;
  const payload = Buffer.from(data.subarray(headerLength, headerLength + payloadLength));
  if (mask !== null)
    for (let index = 0; index < payload.length; index += 1)
      payload[index] = (payload[index] as number) ^ (mask[index & 3] as number);
  return payload.toString();
}
