import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { SlipwayError, toProblem } from '@slipway/errors';
import { type Logger, runInContext, traceIdOf } from '@slipway/telemetry';
import { type Caller, UNAUTHENTICATED } from '../activation/caller.js';
import type { Reply, Router } from './router.js';

/** Who it is. Throws when the request may not pass. */
export type Guard = (request: IncomingMessage, query: URLSearchParams) => Caller;

const DOCS_URL = '/docs';

/** Serves the routes: context, access, answer, problem. A handler's error never ends the process. */
export function createHttpServer(router: Router, guard: Guard, logger: Logger, drainedMs = DRAINED_MS): Server {
  const server = createServer((request, response) => {
    const traceparent = request.headers['traceparent'];
    runInContext(
      { traceId: traceIdOf(traceparent) },
      () => void serve(request, response, { router, guard, logger, drainedMs }),
    );
  });
  // A command may run for an hour; clients that send nothing are cut off by the headers' limit.
  server.requestTimeout = 0;
  server.headersTimeout = 20_000;
  server.keepAliveTimeout = 65_000;
  return server;
}

interface ServeOptions {
  readonly router: Router;
  readonly guard: Guard;
  readonly logger: Logger;
  readonly drainedMs: number;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { router, guard, logger, drainedMs }: ServeOptions,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort(new Error('the client went away')));
  try {
    const url = request.url ?? '/';
    const cut = url.indexOf('?');
    const query = new URLSearchParams(cut === -1 ? '' : url.slice(cut + 1));
    const { route, params } = router.match(request.method ?? 'GET', cut === -1 ? url : url.slice(0, cut));
    const caller = route.access === 'session' ? guard(request, query) : UNAUTHENTICATED;
    const reply = await route.handle({ request, response, params, query, caller, signal: gone.signal });
    if (reply !== undefined) send(response, reply);
  } catch (error) {
    await drained(request, AbortSignal.any([gone.signal, AbortSignal.timeout(drainedMs)]));
    fail(request, response, error, logger);
  }
}

/**
 * Largest remainder of a refused body that is read and thrown away, and for how long, so that the client has sent all
 * when it reads the answer. Bytes; milliseconds.
 */
const MAX_DRAINED = 16 * 1024 * 1024;
const DRAINED_MS = 10_000;

async function drained(request: IncomingMessage, end: AbortSignal): Promise<void> {
  // One that was broken off after a hand-over has already reported its end.
  if (
    request.complete ||
    request.destroyed ||
    Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY) > MAX_DRAINED
  )
    return;
  request.resume();
  await once(request, 'close', { signal: end }).catch(() => undefined);
}

function send(response: ServerResponse, reply: Reply): void {
  if (response.headersSent || response.destroyed) return;
  const body = Buffer.from(JSON.stringify(reply.body));
  response.writeHead(reply.status, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}

function fail(request: IncomingMessage, response: ServerResponse, thrown: unknown, logger: Logger): void {
  const problem = toProblem(thrown, { docsUrl: DOCS_URL });
  if (problem.status >= 500 && !response.destroyed && problem.error.code !== 'sandbox.dormant')
    logger.error(
      {
        err: problem.error,
        cause: problem.error.more.cause,
        code: problem.error.code,
        path: request.url?.split('?')[0],
      },
      problem.error.message,
    );
  if (response.headersSent || response.destroyed) return void response.destroy();
  const body = Buffer.from(JSON.stringify(problem.body));
  // A body that was not read to its end cannot be followed by another request.
  const close: Record<string, string> = request.complete ? {} : { connection: 'close' };
  response.writeHead(problem.status, {
    ...problem.headers,
    ...close,
    'content-type': 'application/problem+json',
    'content-length': body.length,
  });
  response.end(body);
}

/** @throws SlipwayError `config.invalid` that names the port when it is taken. */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new SlipwayError(
              'config.invalid',
              `Port ${port} on ${host} is taken. Set PORT to another one, or to 0 for any.`,
              { cause: error },
            )
          : error,
      ),
    );
    server.listen(port, host, () => {
      const address = server.address();
      resolve(address !== null && typeof address === 'object' ? address.port : port);
    });
  });
}
