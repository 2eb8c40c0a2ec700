import type { ServerResponse } from 'node:http';
import { type Socket, connect as tcpConnect } from 'node:net';
import { Agent, type buildConnector, Client, type Dispatcher, Pool } from 'undici';
import { Passage } from './passage.js';

/** Longest wait for a connection. Milliseconds; a pod that is there takes one or two. */
export const CONNECT_TIMEOUT_MS = 3_000;
/** A connection that is not used is given up before agent-server does (65 s). Milliseconds. */
const IDLE_MS = 30_000;
/** Connections to one port of one sandbox; more requests wait for one. */
const MAX_CONNECTIONS = 256;
/** One read for the parser. Bytes. */
const READ = 64 * 1024;
/** A read up to this is copied, and its memory used again. Bytes. */
const SMALL = 8 * 1024;

/** A request that wants to know by which connection its answer comes. */
export interface ConnectionAware extends Dispatcher.DispatchHandler {
  connection: SandboxConnection | null;
}

/**
 * Connections to sandboxes, kept open between requests. They are a pod's own: none is ever used for another address.
 */
export function createSandboxAgent(silenceMs: number): Agent {
  const options = {
    pipelining: 1,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
    maxHeaderSize: 64 * 1024,
  };
  return new Agent({
    factory: (origin) =>
      new Pool(origin, { connections: MAX_CONNECTIONS, factory: (to) => new SandboxConnection(to, options) }),
  });
}

/**
 * One connection at a time, reopened when it has ended. undici speaks HTTP on it; the remainder of a large answer may
 * bypass it.
 */
export class SandboxConnection extends Client {
  private readonly line: Line;
  private readonly silenceMs: number;

  constructor(origin: URL, options: Client.Options & { readonly bodyTimeout: number }) {
    const line = new Line();
    super(origin, { ...options, connect: line.connect });
    this.line = line;
    this.silenceMs = options.bodyTimeout;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if ('connection' in handler) (handler as ConnectionAware).connection = this;
    return super.dispatch(options, handler);
  }

  /**
   * From the head of an answer on, in which it must have been paused: its body goes to the client and is seen by no
   * parser any more. The connection ends after it; one that ends before is reported by undici as an error of the
   * request.
   * @param length of the body, as the head says. Bytes.
   */
  passOn(response: ServerResponse, length: number, done: () => void): void {
    this.line.passOn(response, length, this.silenceMs, done);
  }
}

/** The TCP connection of a `SandboxConnection`: reads for undici, or for a passage. */
class Line {
  private socket: Socket | null = null;
  private passage: Passage | null = null;

  readonly connect = ({ hostname, port }: buildConnector.Options, callback: buildConnector.Callback): void => {
    this.passage = null;
    let memory = Buffer.allocUnsafeSlow(READ);
    let free = true;
    const socket: Socket = tcpConnect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port === '' ? 80 : port),
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 15_000,
      // A large piece is handed on without a copy, so the next read gets memory of its own. Nothing is read while the
      // client is slow: `push` and `take` say so.
      onread: {
        buffer: () => {
          if (this.passage !== null) return Passage.piece();
          if (!free) memory = Buffer.allocUnsafeSlow(READ);
          free = true;
          return memory;
        },
        callback: (bytes, buffer) => {
          const given = buffer as Buffer;
          if (this.passage !== null) return this.passage.take(given, bytes);
          if (bytes <= SMALL) return socket.push(Buffer.from(given.subarray(0, bytes)));
          free = false;
          return socket.push(given.subarray(0, bytes));
        },
      },
    });
    this.socket = socket;
    const timer = setTimeout(
      () => socket.destroy(new Error(`no connection within ${CONNECT_TIMEOUT_MS} ms`)),
      CONNECT_TIMEOUT_MS,
    );
    const failed = (error: Error): void => {
      clearTimeout(timer);
      callback(error, null);
    };
    socket.once('error', failed);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.off('error', failed);
      callback(null, socket);
    });
  };

  passOn(response: ServerResponse, length: number, silenceMs: number, done: () => void): void {
    const { socket } = this;
    if (socket === null || socket.destroyed) return;
    const passage = new Passage(socket, response, length, silenceMs, done);
    this.passage = passage;
    // The parser gives back what it has not read when it stops at the head, which is when this returns.
    queueMicrotask(() => passage.begin());
  }
}
