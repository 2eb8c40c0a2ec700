import type { RawData, WebSocket } from 'ws';
import type { LiveConnection } from './live.js';

/** What may wait for agent-server before the connection is closed: a channel checks `buffered` long before. Bytes. */
export const MAX_WAITING = 16 * 1024 * 1024;
/** Frames that are kept until a listener is attached. */
const MAX_EARLY_FRAMES = 100;
/** Whoever was sent away has this long to take what waits. Milliseconds. */
const LEAVE_MS = 5_000;

/** A live connection over one WebSocket. */
export class LiveSocket implements LiveConnection {
  readonly #over = new AbortController();
  readonly #messages: Array<(message: unknown) => void> = [];
  readonly #bytes: Array<(bytes: Buffer) => void> = [];
  readonly #drains: Array<() => void> = [];
  readonly #early: Array<readonly [data: Buffer, binary: boolean]> = [];

  constructor(private readonly socket: WebSocket) {
    socket.on('message', (data, binary) => this.#receive(bytesOf(data), binary));
    socket.on('error', () => socket.terminate());
    socket.once('close', () => this.#over.abort(new Error('the connection is over')));
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  get buffered(): number {
    return this.socket.bufferedAmount;
  }

  send(message: object): void {
    this.#write(JSON.stringify(message), false);
  }

  sendBytes(bytes: Uint8Array): void {
    this.#write(bytes, true);
  }

  onDrain(listener: () => void): void {
    this.#drains.push(listener);
  }

  onMessage(listener: (message: unknown) => void): void {
    this.#messages.push(listener);
    this.#deliverEarly(false);
  }

  onBytes(listener: (bytes: Buffer) => void): void {
    this.#bytes.push(listener);
    this.#deliverEarly(true);
  }

  close(code: number, reason: string): void {
    if (this.socket.readyState !== this.socket.OPEN) return;
    this.socket.close(code, shortReason(reason));
    setTimeout(() => this.socket.terminate(), LEAVE_MS).unref();
  }

  #write(data: string | Uint8Array, binary: boolean): void {
    const { socket } = this;
    if (socket.readyState !== socket.OPEN) return;
    if (socket.bufferedAmount > MAX_WAITING) {
      this.close(1013, 'the client reads too slowly; connect again');
      return;
    }
    socket.send(data, { binary }, () => {
      if (socket.bufferedAmount === 0) for (const listener of this.#drains) listener();
    });
  }

  #receive(data: Buffer, binary: boolean): void {
    if ((binary ? this.#bytes : this.#messages).length > 0) this.#deliver(data, binary);
    else if (this.#early.length < MAX_EARLY_FRAMES) this.#early.push([data, binary]);
    else this.close(1008, 'this channel takes no such frames');
  }

  #deliverEarly(binary: boolean): void {
    for (const frame of this.#early.filter((one) => one[1] === binary)) {
      this.#early.splice(this.#early.indexOf(frame), 1);
      this.#deliver(frame[0], binary);
    }
  }

  #deliver(data: Buffer, binary: boolean): void {
    try {
      if (binary) for (const listener of this.#bytes) listener(data);
      else {
        const message: unknown = JSON.parse(data.toString());
        for (const listener of this.#messages) listener(message);
      }
    } catch (error) {
      this.close(
        1008,
        error instanceof SyntaxError ? 'a text frame is one JSON message' : String((error as Error).message),
      );
    }
  }
}

/** As long as a close frame can hold: 123 bytes. */
function shortReason(reason: string): string {
  let short = reason.slice(0, 120);
  while (Buffer.byteLength(short) > 123) short = short.slice(0, -1);
  return short;
}

function bytesOf(data: RawData): Buffer {
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer);
}
