import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Socket, connect as tcpConnect } from 'node:net';
import { SlipwayError } from '@slipway/errors';
import { Agent, type buildConnector, type Dispatcher, errors } from 'undici';

/** Longest wait for a connection. Milliseconds; a pod that is there takes one or two. */
export const CONNECT_TIMEOUT_MS = 3_000;
/** A connection that is not used is given up before agent-server does (65 s). Milliseconds. */
const IDLE_MS = 30_000;
/** Connections to one port of one sandbox; more requests wait for one. */
const MAX_CONNECTIONS = 256;

/** Connections to sandboxes, kept open between requests. They are a pod's own: none is ever used for another address. */
export function createSandboxAgent(silenceMs: number): Agent {
  return new Agent({
    connections: MAX_CONNECTIONS,
    pipelining: 1,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
    maxHeaderSize: 64 * 1024,
    connect: connectToSandbox,
  });
}

/** One read of a connection: as much as a short answer needs, and more at a time while a long one fills that. Bytes. */
const SMALL_READ = 64 * 1024;
const LARGE_READ = 1024 * 1024;

/** Connects by plain TCP. Large bodies are read in large pieces: what a piece costs here is then spent sixteen times less often. */
function connectToSandbox({ hostname, port }: buildConnector.Options, callback: buildConnector.Callback): void {
  let size = SMALL_READ;
  const socket: Socket = tcpConnect({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port === '' ? 80 : port),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 15_000,
    // A piece is handed on without a copy, so the next read gets memory of its own. Nothing is read while the client is slow: `push` says so.
    onread: {
      buffer: () => Buffer.allocUnsafeSlow(size),
      callback: (bytes, buffer) => {
        size = bytes === buffer.length ? LARGE_READ : SMALL_READ;
        return socket.push(bytes === buffer.length ? buffer : buffer.subarray(0, bytes));
      },
    },
  });
  const timer = setTimeout(() => socket.destroy(new Error(`no connection within ${CONNECT_TIMEOUT_MS} ms`)), CONNECT_TIMEOUT_MS);
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
}

/**
 * Sends one request on and its answer back. Bodies stream both ways, each no faster than its reader; nothing is retried, since only the client knows
 * what may be repeated. A sandbox that breaks off in the middle breaks the client's connection, so that half an answer never looks whole.
 *
 * @param answer headers of the response, from those of the sandbox.
 * @throws SlipwayError `sandbox.unreachable` or `sandbox.timeout`; a client that goes away ends it without an error.
 */
export async function forward(
  agent: Agent,
  request: IncomingMessage,
  response: ServerResponse,
  to: { readonly origin: string; readonly path: string; readonly headers: string[]; readonly signal: AbortSignal },
  answer: (status: number, headers: Readonly<Record<string, string | string[] | undefined>>) => string[],
): Promise<void> {
  // The answer's own stream tells of a client that leaves once there is one; before that this does.
  const left = new AbortController();
  response.once('close', () => left.abort());
  const hasBody = request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined;
  try {
    await agent.stream(
      {
        origin: to.origin,
        path: to.path,
        method: request.method as Dispatcher.HttpMethod,
        headers: to.headers,
        body: hasBody && request.headers['content-length'] !== '0' ? request : null,
        signal: AbortSignal.any([to.signal, left.signal]),
      },
      ({ statusCode, headers }) => {
        response.writeHead(statusCode, answer(statusCode, headers));
        // An event stream's head must not wait for its first event.
        if (headers['content-length'] === undefined) response.flushHeaders();
        return response;
      },
    );
  } catch (error) {
    if (response.headersSent || response.destroyed) return void response.destroy();
    // Ended by us, for a reason of which the client has been told or is gone.
    if (to.signal.aborted) throw to.signal.reason;
    throw fromUndici(error);
  }
}

export function fromUndici(error: unknown): unknown {
  if (error instanceof SlipwayError) return error;
  if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError)
    return new SlipwayError('sandbox.timeout', 'The sandbox said nothing for too long.', { cause: error });
  if (error instanceof errors.InvalidArgumentError) return new SlipwayError('request.invalid', 'The request cannot be sent on as it is.', { cause: error });
  return new SlipwayError('sandbox.unreachable', 'Nothing answers on this port of the sandbox.', { cause: error, retryAfterSeconds: 1 });
}
