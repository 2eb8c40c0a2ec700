import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';

/**
 * One read. Bytes: what is done for each costs nothing beside the copy, and it stays in a processor's cache until it is
 * written.
 */
const PIECE_BYTES = 512 * 1024;
/** What may wait for the client before the tool process is no longer read, and until how much it then is not. Bytes. */
const HIGH_WATER = 2 * PIECE_BYTES;
const LOW_WATER = PIECE_BYTES;
/** Longest head of an answer. Bytes; the tool process is not trusted. */
const MAX_HEAD_BYTES = 16 * 1024;
const HEAD_END = Buffer.from('\r\n\r\n');
/** Longest silence of the tool process while the client waits. Milliseconds. */
const SILENCE_MS = 120_000;
/** Headers of the answer that the client gets. */
const PASSED = ['content-type', 'content-length', 'content-disposition', 'etag'] as const;
/** What a header may hold: our own server throws at anything else, and the tool process is not trusted. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

export interface RawDownloadRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/**
 * Forwards the body of one GET without an HTTP parser, read into memory that is used again: a third of the processor
 * time of a relay by streams, which under load is what its client waits for. The connection is this answer's alone.
 * @returns false, with nothing written, when the answer is not 200 with a length: it needs an HTTP parser. Rejects
 * without an answer. An answer that breaks off breaks the client's connection, so that a part never passes for the
 * whole.
 */
export function rawDownload(request: RawDownloadRequest, response: ServerResponse): Promise<boolean> {
  return new Promise((resolve, reject) => new RawDownload(request, response, resolve, reject));
}

class RawDownload {
  private readonly socket: Socket;
  private readonly spare: Buffer[] = [];
  private head: Buffer | null = Buffer.alloc(0);
  /** Bytes of the body that are still to come. */
  private left = 0;
  /** Bytes that are with the client's connection and not written yet. */
  private waiting = 0;
  private stopped = false;
  private settled = false;

  constructor(
    { url, headers, signal }: RawDownloadRequest,
    private readonly response: ServerResponse,
    private readonly resolve: (handed: boolean) => void,
    private readonly reject: (error: unknown) => void,
  ) {
    const leave = (): void => void this.socket.destroy();
    this.socket = connect({
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: Number(url.port === '' ? 80 : url.port),
      noDelay: true,
      onread: {
        buffer: () => this.spare.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES),
        callback: (length, memory) => this.take(memory as Buffer, length),
      },
    });
    let cause: unknown = new Error('the tool process closed the connection');
    this.socket.setTimeout(
      SILENCE_MS,
      () => this.waiting === 0 && this.socket.destroy(new Error('the tool process is silent')),
    );
    this.socket.once('error', (error) => {
      cause = error;
    });
    this.socket.once('close', () => {
      signal.removeEventListener('abort', leave);
      this.broken(cause);
    });
    response.once('close', leave);
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    const lines = Object.entries({ host: url.host, connection: 'close', ...headers }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    this.socket.write(`GET ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('')}\r\n`);
  }

  /** @returns false: read no more until it is resumed. */
  private take(memory: Buffer, length: number): boolean {
    if (this.settled) return false;
    if (this.head === null) return this.pass(memory, memory.subarray(0, length));
    this.head = Buffer.concat([this.head, memory.subarray(0, length)]);
    this.spare.push(memory);
    const end = this.head.indexOf(HEAD_END);
    if (end === -1 && this.head.length <= MAX_HEAD_BYTES) return true;
    const answer = end === -1 || end > MAX_HEAD_BYTES ? null : readHead(this.head.subarray(0, end).toString('latin1'));
    if (answer === null) return this.settle(false);
    const early = this.head.subarray(end + HEAD_END.length);
    this.head = null;
    this.left = Number(answer['content-length']);
    this.response.writeHead(200, answer);
    this.response.flushHeaders();
    if (this.left > 0 && early.length === 0) return true;
    return this.pass(null, early);
  }

  /** @param memory to use again once its bytes are written. */
  private pass(memory: Buffer | null, all: Buffer): boolean {
    // Content beyond the announced length is cut: the client has that length.
    const bytes = all.length > this.left ? all.subarray(0, this.left) : all;
    this.left -= bytes.length;
    this.waiting += bytes.length;
    // Past the response's own bookkeeping, which costs a queue and a turn for each piece; its head is on the way
    // already.
    if (bytes.length > 0)
      (this.response.socket ?? this.response).write(bytes, (error) => this.written(memory, bytes.length, error));
    if (this.left === 0) {
      this.response.end();
      return this.settle(true);
    }
    this.stopped = this.waiting >= HIGH_WATER;
    return !this.stopped;
  }

  private written(memory: Buffer | null, bytes: number, error: Error | null | undefined): void {
    this.waiting -= bytes;
    // After an error it may still be in use.
    if (memory !== null && error == null) this.spare.push(memory);
    if (!this.stopped || this.settled || this.waiting > LOW_WATER) return;
    this.stopped = false;
    this.socket.resume();
  }

  private settle(handed: boolean): false {
    this.settled = true;
    this.socket.destroy();
    this.resolve(handed);
    return false;
  }

  private broken(cause: unknown): void {
    if (this.settled) return;
    this.settled = true;
    if (!this.response.headersSent && !this.response.destroyed) this.reject(cause);
    else {
      this.response.destroy();
      this.resolve(true);
    }
  }
}

/** The headers to pass on of a 200 with a length and no transfer encoding; `null` for any other answer. */
function readHead(head: string): Record<string, string> | null {
  const [status = '', ...lines] = head.split('\r\n');
  if (!/^HTTP\/1\.1 200( |$)/.test(status)) return null;
  const given = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  if (given.has('transfer-encoding') || !/^\d{1,15}$/.test(given.get('content-length') ?? '')) return null;
  if (PASSED.some((name) => !VALUE.test(given.get(name) ?? ''))) return null;
  return Object.fromEntries(
    PASSED.flatMap((name) => {
      const value = given.get(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
