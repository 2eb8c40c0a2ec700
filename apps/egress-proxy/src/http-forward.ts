import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { isName } from '@slipway/net';
import { absoluteOf, isPathEndpoint, pathEndpointOf } from './admission/destination.js';
import { answerOf, unreachable } from './admission/refusal.js';
import type { Refusal } from './budget/allowance.js';
import { overBudget } from './budget/egress-budgets.js';
import { metered } from './budget/metered.js';
import type { Gate } from './gate.js';
import type { Line } from './lines/line.js';
import { cutOff } from './lines/open-lines.js';

/** Of one connection, and not of what is sent over it (RFC 9110 7.6.1). Those of the proxy itself go no further. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade',
]); // biome-ignore format: a list reads better in lines
const VIA = '1.1 slipway-egress';

/** Ports that `Host` does not name, by the kind of the connection. */
const DEFAULT_PORTS = { http: 80, path: 443 } as const;

/**
 * Serves one request for a plain http address, or one for a path endpoint, which credential-broker puts into TLS: a
 * connection of its own, so that nothing is left for another sandbox.
 */
export async function serveHttp(
  gate: Gate,
  request: IncomingMessage,
  response: ServerResponse,
  idleMs: number,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const target = request.url ?? '';
  const kind = isPathEndpoint(target) ? 'path' : 'http';
  let line: Line;
  let path: string;
  try {
    let read: ReturnType<typeof absoluteOf> | undefined;
    const readTarget = kind === 'path' ? pathEndpointOf : absoluteOf;
    line = await gate.open(kind, request, () => (read = readTarget(target)), gone.signal);
    path = read?.path ?? '/';
  } catch (error) {
    return answer(response, error, kind);
  }
  const { socket, destination } = line;
  socket.setTimeout(idleMs, () => socket.destroy(new Error('nothing came for too long')));
  const host = isName(destination.host) || !destination.host.includes(':') ? destination.host : `[${destination.host}]`;
  const headers = requestHeaders(
    request,
    destination.port === DEFAULT_PORTS[kind] ? host : `${host}:${destination.port}`,
    // It is the sandbox's own, for this proxy.
    kind === 'path' ? ['host', 'authorization'] : ['host'],
  );
  const method = request.method ?? 'GET';
  const overspent = (refusal: Refusal): void => {
    answer(response, overBudget(refusal, destination.host), kind);
    cutOff(line, refusal.why);
  };
  const refusal = await line.allowance?.take(bytesOf(method, path, headers));
  if (refusal != null) return overspent(refusal);
  if (response.destroyed) return void socket.destroy();
  const outgoing = httpRequest({ createConnection: () => socket, setHost: false, method, path, headers });
  response.once('close', () => outgoing.destroy());
  outgoing.once('response', (incoming) => {
    try {
      response.writeHead(incoming.statusCode ?? 502, incoming.statusMessage, [...passedOn(incoming), 'via', VIA]);
    } catch (error) {
      // A host may say what no answer of ours can hold.
      return void outgoing.destroy(error as Error);
    }
    pipeline(incoming, response, () => {});
  });
  outgoing.once('error', (error: NodeJS.ErrnoException) =>
    answer(
      response,
      unreachable('unreachable', `${destination.host} broke off: ${error.code ?? error.message}.`, error),
      kind,
    ),
  );
  pipeline(request, metered(line.allowance, outgoing, overspent), () => {});
}

/** What the head of a request takes on its way, or a little less. */
const bytesOf = (method: string, path: string, headers: readonly string[]): number =>
  headers.reduce((sum, text) => sum + text.length + 2, method.length + path.length + ' HTTP/1.1'.length + 4);

function answer(response: ServerResponse, thrown: unknown, kind: 'http' | 'path'): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const { status, phrase, headers, body } = answerOf(thrown, kind === 'http');
  response.writeHead(status, phrase, headers).end(response.req.method === 'HEAD' ? undefined : body);
}

/** The headers of the request as they were written but those left out, with one `Host`: that of its address. */
function requestHeaders(request: IncomingMessage, host: string, without: readonly string[]): string[] {
  const passed = passedOn(request).flatMap((text, index, all) =>
    index % 2 === 0 && !without.includes(text.toLowerCase()) ? [text, all[index + 1] ?? ''] : [],
  );
  const body =
    request.headers['transfer-encoding'] !== undefined
      ? ['transfer-encoding', 'chunked']
      : request.headers['content-length'] === undefined && /^(POST|PUT|PATCH)$/.test(request.method ?? '')
        ? ['content-length', '0']
        : [];
  return ['host', host, ...passed, ...body, 'via', VIA, 'connection', 'close'];
}

/** Names and values in turn, without what is of one connection, by the standard or by its own word. */
function passedOn({ rawHeaders, headers }: IncomingMessage): string[] {
  const named = new Set((headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()));
  // Without it the end of the body is unknown, and what follows is another request.
  named.delete('content-length');
  const passed: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const lower = name.toLowerCase();
    if (!HOP_BY_HOP.has(lower) && !named.has(lower)) passed.push(name, rawHeaders[index + 1] ?? '');
  }
  return passed;
}
