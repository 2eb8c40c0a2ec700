import { crc32 } from 'node:zlib';

/** One message of AWS's binary event stream (`application/vnd.amazon.eventstream`). */
export interface StreamMessage {
  /** Headers that are strings, by their names; others are stepped over. */
  readonly headers: ReadonlyMap<string, string>;
  readonly payload: Buffer;
}

/** Longest message that is taken. Bytes; a longer one is a broken stream, and would fill the memory. */
const MAX_MESSAGE = 4 * 1024 * 1024;
/** Length of the message, length of its headers, CRC of both. Bytes. */
const PRELUDE = 12;
const CRC = 4;
/** Bytes of a header's value by its type; `null`: two bytes say how many follow. */
const VALUE_BYTES: ReadonlyArray<number | null> = [0, 0, 1, 2, 4, 8, null, null, 8, 16];
const STRING = 7;

/**
 * Cuts a stream into its messages, wherever its pieces end. Nothing is held beyond one message, and nothing here
 * throws.
 */
export class EventStreamReader {
  /** Why the stream cannot be read any further; `null` while it can. */
  broken: string | null = null;
  private held: Buffer[] = [];
  private length = 0;
  /** Bytes that must be there before it is worth looking again. */
  private wanted = PRELUDE;

  /** The messages that are whole now. */
  push(chunk: Buffer): StreamMessage[] {
    if (this.broken !== null) return [];
    this.held.push(chunk);
    this.length += chunk.length;
    if (this.length < this.wanted) return [];
    let rest = this.held.length === 1 ? chunk : Buffer.concat(this.held);
    const messages: StreamMessage[] = [];
    for (;;) {
      this.wanted = PRELUDE;
      if (rest.length < PRELUDE) break;
      const total = rest.readUInt32BE(0);
      if (crc32(rest.subarray(0, 8)) !== rest.readUInt32BE(8))
        return this.stop('the checksum of a message does not fit', messages);
      if (total < PRELUDE + CRC || total > MAX_MESSAGE) return this.stop(`a message of ${total} bytes`, messages);
      this.wanted = total;
      if (rest.length < total) break;
      const message = readMessage(rest.subarray(0, total));
      if (message === null) return this.stop('the checksum or a header of a message does not fit', messages);
      messages.push(message);
      rest = rest.subarray(total);
    }
    this.held = rest.length === 0 ? [] : [rest];
    this.length = rest.length;
    return messages;
  }

  /** The stream ended inside of a message. */
  get cut(): boolean {
    return this.length > 0;
  }

  private stop(why: string, messages: StreamMessage[]): StreamMessage[] {
    this.broken = why;
    this.held = [];
    this.length = 0;
    return messages;
  }
}

function readMessage(bytes: Buffer): StreamMessage | null {
  const end = bytes.length - CRC;
  const headersEnd = PRELUDE + bytes.readUInt32BE(4);
  if (headersEnd > end || crc32(bytes.subarray(0, end)) !== bytes.readUInt32BE(end)) return null;
  const headers = new Map<string, string>();
  let at = PRELUDE;
  while (at < headersEnd) {
    const nameLength = bytes.readUInt8(at);
    const valueAt = at + 1 + nameLength + 1;
    if (valueAt > headersEnd) return null;
    const type = bytes.readUInt8(valueAt - 1);
    const fixed = VALUE_BYTES[type];
    if (fixed === undefined || (fixed === null && valueAt + 2 > headersEnd)) return null;
    const start = fixed === null ? valueAt + 2 : valueAt;
    const next = start + (fixed ?? bytes.readUInt16BE(valueAt));
    if (next > headersEnd) return null;
    if (type === STRING)
      headers.set(bytes.toString('utf8', at + 1, at + 1 + nameLength), bytes.toString('utf8', start, next));
    at = next;
  }
  return { headers, payload: bytes.subarray(headersEnd, end) };
}
