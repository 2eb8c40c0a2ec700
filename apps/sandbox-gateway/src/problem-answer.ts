import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ERRORS } from '@slipway/contracts/errors';
import { type ProblemResponse, toProblem } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';

export interface ProblemAnswers {
  /** Where Slipway itself is: its documentation of errors, and the way back of a page. */
  readonly publicUrl: string;
  readonly logger: Logger;
}

/**
 * Answers a request that reaches no sandbox: a page for a browser, else `application/problem+json`. Returns the code.
 */
export function answerProblem(
  request: IncomingMessage,
  response: ServerResponse,
  thrown: unknown,
  { publicUrl, logger }: ProblemAnswers,
): string {
  const problem = problemOf(thrown, publicUrl, logger);
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return problem.error.code;
  }
  const page =
    request.headers['sec-fetch-mode'] === 'navigate' || (request.headers.accept ?? '').startsWith('text/html');
  const body = Buffer.from(page ? pageOf(problem, publicUrl) : JSON.stringify(problem.body));
  response.writeHead(problem.status, {
    ...headersOf(problem, page),
    'content-length': body.length,
    // A body that was not read to its end cannot be followed by another request.
    ...(request.complete ? {} : { connection: 'close' }),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
  return problem.error.code;
}

/** The same on a connection that asked for an upgrade, which ends with it. */
export function refuseUpgrade(socket: Duplex, thrown: unknown, { publicUrl, logger }: ProblemAnswers): string {
  const problem = problemOf(thrown, publicUrl, logger);
  if (!socket.writable) {
    socket.destroy();
    return problem.error.code;
  }
  const body = JSON.stringify(problem.body);
  const headers = {
    ...headersOf(problem, false),
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? 'Error'}\r\n${head.join('')}\r\n${body}`);
  return problem.error.code;
}

function problemOf(thrown: unknown, publicUrl: string, logger: Logger): ProblemResponse {
  const problem = toProblem(thrown, { docsUrl: new URL('/docs', publicUrl).href });
  if (problem.error.code === 'internal.unexpected')
    logger.error({ err: problem.error, cause: problem.error.more.cause }, 'request failed');
  else logger.debug({ code: problem.error.code, cause: problem.error.more.cause }, problem.error.detail);
  return problem;
}

function headersOf(problem: ProblemResponse, page: boolean): Record<string, string> {
  return {
    ...problem.headers,
    'content-type': page ? 'text/html; charset=utf-8' : 'application/problem+json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    ...(problem.status === 401 ? { 'www-authenticate': 'Bearer realm="slipway-sandbox"' } : {}),
    // The page has one style and nothing else; it runs on the origin of a sandbox.
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'",
  };
}

function pageOf({ body, error }: ProblemResponse, publicUrl: string): string {
  const text = (value: string): string => value.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${text(body.title)}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:15vh auto;padding:0 1rem}h1{font-size:1.25rem}code{color:#666}</style>
<h1>${text(body.title)}</h1><p>${text(body.detail)}</p><p>${text(ERRORS[error.code].nextStep)}</p>
<p><a href="${text(new URL('/', publicUrl).href)}">Back to Slipway</a></p><p><code>${text(body.code)}</code></p></html>
`;
}
