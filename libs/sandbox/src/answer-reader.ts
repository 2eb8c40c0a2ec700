/** Longest head of an answer. Bytes. */
const MAX_HEAD_BYTES = 16 * 1024;
const HEAD_END = Buffer.from('\r\n\r\n');

export interface Answer {
  readonly status: number;
  readonly body: string;
  /** The connection may be used again. */
  readonly keeps: boolean;
}

/**
 * Reads one HTTP/1.1 answer from a sandbox, which is trusted with nothing: everything has a bound, and what is not
 * plain is refused.
 */
export class AnswerReader {
  private head: {
    readonly status: number;
    readonly framing: number | 'chunked' | 'until-end';
    readonly keeps: boolean;
  } | null = null;
  private pending: Buffer = Buffer.alloc(0);
  private readonly chunks: Buffer[] = [];
  private size = 0;

  constructor(private readonly maxBytes: number) {}

  /** @returns the answer when it is whole. @throws Error when it is malformed or too long. */
  push(data: Buffer): Answer | null {
    this.pending = this.pending.length === 0 ? data : Buffer.concat([this.pending, data]);
    if (this.head === null) {
      const end = this.pending.indexOf(HEAD_END);
      if (end < 0 && this.pending.length <= MAX_HEAD_BYTES) return null;
      if (end < 0 || end > MAX_HEAD_BYTES) throw new Error('the head of the answer is too long');
      this.head = readHead(this.pending.toString('latin1', 0, end));
      this.pending = this.pending.subarray(end + HEAD_END.length);
    }
    const { framing } = this.head;
    if (framing === 'chunked') return this.readChunks();
    if (framing === 'until-end') {
      this.take(this.pending.length);
      return null;
    }
    if (framing > this.maxBytes) throw new Error(`the answer is longer than ${this.maxBytes} bytes`);
    if (this.pending.length < framing) return null;
    this.take(framing);
    return this.whole();
  }

  /** The other side has ended the connection. @returns the answer, when that is its end. */
  end(): Answer | null {
    return this.head?.framing === 'until-end' ? this.whole() : null;
  }

  private readChunks(): Answer | null {
    while (true) {
      const line = this.pending.indexOf('\r\n');
      if (line < 0 && this.pending.length > 100) throw new Error('the answer is malformed');
      if (line < 0) return null;
      const size = /^([0-9a-fA-F]{1,8})(?:;|$)/.exec(this.pending.toString('latin1', 0, line))?.[1];
      if (size === undefined) throw new Error('the answer is malformed');
      const length = Number.parseInt(size, 16);
      if (this.size + length > this.maxBytes) throw new Error(`the answer is longer than ${this.maxBytes} bytes`);
      if (this.pending.length < line + 2 + length + 2) return null;
      if (this.pending.toString('latin1', line + 2 + length, line + 4 + length) !== '\r\n')
        throw new Error('the answer is malformed');
      this.pending = this.pending.subarray(line + 2);
      this.take(length);
      this.pending = this.pending.subarray(2);
      if (length === 0) return this.whole();
    }
  }

  private take(length: number): void {
    this.size += length;
    if (this.size > this.maxBytes) throw new Error(`the answer is longer than ${this.maxBytes} bytes`);
    if (length > 0) this.chunks.push(this.pending.subarray(0, length));
    this.pending = this.pending.subarray(length);
  }

  private whole(): Answer {
    const { status = 0, keeps = false } = this.head ?? {};
    const [only] = this.chunks;
    const body = this.chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.chunks);
    // Unsolicited bytes: what follows would be out of step.
    return { status, body: body.toString('utf8'), keeps: keeps && this.pending.length === 0 };
  }
}

function readHead(text: string): { status: number; framing: number | 'chunked' | 'until-end'; keeps: boolean } {
  const [first = '', ...lines] = text.split('\r\n');
  const status = Number(/^HTTP\/1\.[01] ([2-5]\d\d)(?: |$)/.exec(first)?.[1]);
  if (Number.isNaN(status)) throw new Error('the answer is malformed');
  let length: number | null = null;
  let chunked = false;
  let keeps = first.startsWith('HTTP/1.1');
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon <= 0) throw new Error('the answer is malformed');
    const value = line.slice(colon + 1).trim();
    switch (line.slice(0, colon).toLowerCase()) {
      case 'content-length':
        if (length !== null || !/^\d{1,12}$/.test(value)) throw new Error('the answer is malformed');
        length = Number(value);
        break;
      case 'transfer-encoding':
        if (value.toLowerCase() !== 'chunked') throw new Error('the answer is malformed');
        chunked = true;
        break;
      case 'connection':
        if (value.toLowerCase() === 'close') keeps = false;
    }
  }
  if (chunked && length !== null) throw new Error('the answer is malformed');
  if (status === 204 || status === 304) return { status, framing: 0, keeps };
  return {
    status,
    framing: chunked ? 'chunked' : (length ?? 'until-end'),
    keeps: keeps && (chunked || length !== null),
  };
}
