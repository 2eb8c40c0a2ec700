import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { notFound, SlipwayError, toProblem } from '@slipway/errors';
import { type Logger, type RequestContext, runInContext, traceIdOf } from '@slipway/telemetry';
import type { LiveChannels } from './live.js';
import { serveLive } from './live-server.js';

/**
 * Largest remainder of a refused body that is read and thrown away, and for how long: an end in the midst of it would
 * overtake the answer. Bytes; milliseconds.
 */
const MAX_DRAINED = 16 * 1024 * 1024;
const DRAINED_MS = 10_000;

async function drained(request: IncomingMessage, gone: AbortSignal): Promise<void> {
  if (
    request.complete ||
    request.destroyed ||
    Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY) > MAX_DRAINED
  )
    return;
  request.resume();
  await once(request, 'close', { signal: AbortSignal.any([gone, AbortSignal.timeout(DRAINED_MS)]) }).catch(
    () => undefined,
  );
}

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: URLSearchParams;
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal;
}

/** `socket` is the request's, which no longer names it once its body has been read. */
interface FailedExchange extends Pick<Exchange, 'request' | 'response'> {
  readonly route: string;
  readonly socket: Socket;
}

/** Answers with JSON, or `undefined` when it has written the response itself. */
export type Handler = (exchange: Exchange) => Promise<unknown>;
/** `METHOD /path` → handler. */
export type Routes = Readonly<Record<string, Handler>>;

/** Routes that need no token: they say nothing but that the process runs and what it uses. */
const OPEN: ReadonlySet<string> = new Set(['GET /alive', 'GET /ready']);

/**
 * Answers each request by its route, failures as problem documents, and serves the live channels; what one request
 * breaks stays with that request.
 */
export function createHttpServer(
  routes: Routes,
  live: LiveChannels,
  { token, logger }: { token: string; logger: Logger },
): Server {
  const expected = digest(token);
  const authorized = (request: IncomingMessage): boolean =>
    timingSafeEqual(digest(header(request, 'x-session-api-key') ?? ''), expected);
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 75_000 }, (request, response) => {
    const context: RequestContext = { traceId: traceIdOf(header(request, 'traceparent')) };
    runInContext(context, () => void answer(request, response));
  });
  serveLive(server, { channels: live, authorized, logger });
  return server;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const started = performance.now();
    const { socket } = request;
    const gone = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished) gone.abort(new Error('the caller closed the request'));
    });
    response.on('error', () => {});
    const url = new URL(`http://localhost${request.url?.startsWith('/') ? request.url : '/'}`);
    const route = `${request.method} ${url.pathname}`;
    try {
      if (!OPEN.has(route) && !authorized(request))
        throw new SlipwayError('auth.missing', 'Send the header X-Session-API-Key.');
      const handler = Object.hasOwn(routes, route) ? routes[route] : undefined;
      if (handler === undefined) throw notFound();
      const body = await handler({ request, response, query: url.searchParams, signal: gone.signal });
      if (body !== undefined) send(response, 200, 'application/json', body);
    } catch (error) {
      await drained(request, gone.signal);
      if (gone.signal.aborted) response.destroy();
      else fail({ route, request, socket, response }, error);
    }
    const line = {
      route,
      status: response.statusCode,
      elapsed_ms: Math.round(performance.now() - started),
      aborted: gone.signal.aborted,
    };
    // What acts leaves a line with its trace; what only reads is of use only to a developer.
    logger[request.method === 'GET' ? 'debug' : 'info'](line, 'request');
  }

  function fail({ route, request, socket, response }: FailedExchange, thrown: unknown): void {
    const problem = toProblem(thrown, { docsUrl: '' });
    logger[problem.status >= 500 ? 'error' : 'info'](
      { err: problem.error, code: problem.error.code, route },
      'request failed',
    );
    if (response.headersSent) return void response.destroy();
    if (!request.complete) {
      // What is still on its way of the body would be read as the next request.
      response.setHeader('connection', 'close');
      response.once('finish', () => socket.destroySoon());
    }
    send(response, problem.status, 'application/problem+json', problem.body);
  }
}

function send(response: ServerResponse, status: number, contentType: string, body: unknown): void {
  const text = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { 'content-type': contentType, 'content-length': text.length });
  response.end(text);
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** Of equal length whatever was sent, so that the comparison's time says nothing. */
function digest(value: string): Buffer {
  return createHash('sha256').update(value).digest();
}
