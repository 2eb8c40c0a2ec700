import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Tunnel } from '../intake/tunnel.js';
import type { HeldCredential } from '../judge/credential.js';
import type { Passed } from '../judge/judge-request.js';
import { refused } from '../judge/refusal.js';
import { valuesOf } from '../judge/request-head.js';
import { type AnswerHead, answerHead } from './answer-head.js';
import { type Found, Masking, maskBytes } from './masking.js';
import type { Needle } from './needles.js';
import type { Outgoing } from './outgoing.js';
import { assertAged } from './package-age.js';
import { brokeOff, type Upstream } from './upstream.js';
import { joinSockets } from './websocket.js';

export interface Forwarding {
  readonly tunnel: Tunnel;
  readonly upstream: Upstream;
  readonly judged: Passed;
  readonly outgoing: Outgoing;
  readonly needles: readonly Needle[];
  readonly found: Found;
  readonly maxBodyBytes: number;
  /** Of files that may come in; `null`: any. Days since they were published. */
  readonly minAgeDays: number | null;
  /** Of a WebSocket, what came behind its handshake; `null` for any other request. */
  readonly early: Buffer | null;
}

/** Most of an answer that is searched as a whole and sent with its length. Bytes. */
const MAX_WHOLE_BYTES = 64 * 1024;

/** Not as they came: written anew for this connection, or chosen here. */
const OWN: ReadonlySet<string> = new Set(['host', 'expect', 'content-length', 'accept-encoding']);

/**
 * Sends a request to its host and the answer back, both as they come.
 * @returns the status, once the answer has ended or broken off.
 * @throws SlipwayError where nothing was answered yet.
 */
export function forward(request: IncomingMessage, response: ServerResponse, forwarding: Forwarding): Promise<number> {
  const { tunnel, upstream, judged, outgoing, needles, found, maxBodyBytes, minAgeDays, early } = forwarding;
  const { host, port } = tunnel.line;
  const { method, target } = outgoing.head;
  return new Promise((resolve, reject) => {
    const sent = httpRequest({
      agent: upstream,
      host,
      port,
      setHost: false,
      method,
      path: target.query === null ? target.rawPath : `${target.rawPath}?${target.query}`,
      headers: headersOf(request, forwarding),
    });
    let status = 0;
    const failed = (error: Error): void => {
      outgoing.body?.unpipe(sent);
      sent.destroy();
      if (response.headersSent || response.destroyed) {
        response.destroy();
        resolve(status);
      } else reject(brokeOff(host, error));
    };
    const gone = (): void => {
      if (!response.writableFinished) sent.destroy();
      resolve(status);
    };
    response.once('close', gone);
    sent.on('error', failed);
    if (early !== null)
      sent.once('upgrade', (incoming, socket, behind) => {
        const { message, headers } = answerHead(incoming, judged, needles, found);
        // The client may have gone while the host answered.
        if (response.socket === null) return void socket.destroy();
        response.off('close', gone);
        const joining = { headers, message, early: { client: early, host: behind } };
        joinSockets(response, socket as Socket, joining).then(() => resolve(101), reject);
      });
    sent.once('response', (incoming) => {
      try {
        status = incoming.statusCode ?? 502;
        if (status === 401 && judged.git !== null) throw rejected(judged.credential, host);
        assertAged(incoming, minAgeDays, { host, isHead: method === 'HEAD', now: new Date() });
        const head = answerHead(incoming, judged, needles, found);
        passOn(incoming, response, head, { needles, found });
      } catch (error) {
        // A host may also say what no answer of ours can hold.
        failed(error as Error);
      }
    });
    sendBody(sent, outgoing, maxBodyBytes);
  });
}

/** Sends an answer on as it comes; a small one that is searched, once it is there. */
function passOn(
  incoming: IncomingMessage,
  response: ServerResponse,
  { status, message, headers, searched, decoder }: AnswerHead,
  { needles, found }: Pick<Forwarding, 'needles' | 'found'>,
): void {
  // Half of an answer never looks whole.
  incoming.once('close', () => {
    if (!incoming.complete) response.destroy();
  });
  incoming.on('error', () => response.destroy());
  const flat = headers.flat();
  const length = Number(incoming.headers['content-length'] ?? Number.NaN);
  if (searched && decoder === null && length <= MAX_WHOLE_BYTES) {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.once('end', () => {
      const body = maskBytes(Buffer.concat(chunks), needles, found);
      response.writeHead(status, message, [...flat, 'Content-Length', String(body.length)]).end(body);
    });
    return;
  }
  response.writeHead(status, message, flat);
  if (!searched) return void incoming.pipe(response);
  const masking = new Masking(needles, found);
  const decoded = decoder === null ? incoming : incoming.pipe(decoder);
  decoder?.once('error', () => response.destroy());
  decoded.pipe(masking).pipe(response);
}

function sendBody(sent: ReturnType<typeof httpRequest>, { held, body }: Outgoing, maxBodyBytes: number): void {
  if (body === null) return void sent.end(held ?? undefined);
  if (held !== null && held.length > 0) sent.write(held);
  limit(body, maxBodyBytes - (held?.length ?? 0), () => sent.destroy(tooLarge(maxBodyBytes)));
  // A client that goes away in the middle of a body leaves no request that looks whole.
  body.once('error', (error) => sent.destroy(error));
  body.pipe(sent);
}

function limit(body: Readable, most: number, exceeded: () => void): void {
  let length = 0;
  body.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > most) exceeded();
  });
}

export const tooLarge = (maxBodyBytes: number) =>
  refused('credential.too-large', 'too-large', `The body of the request is over ${maxBodyBytes} bytes.`);

function rejected({ name }: HeldCredential, host: string) {
  return refused(
    'credential.rejected',
    'rejected',
    `${host} does not accept ${name} for this repository. Mend that credential: Admin, Credentials.`,
  );
}

function headersOf(request: IncomingMessage, { tunnel, judged, outgoing, needles, early }: Forwarding): string[] {
  const { host, port } = tunnel.line;
  const { headers } = outgoing.head;
  // What is searched comes plainly.
  const isSearched = judged.credential === null ? needles.length > 0 : judged.git === null;
  const encoding = isSearched ? ['identity'] : valuesOf(headers, 'accept-encoding');
  const length = valuesOf(headers, 'content-length')[0];
  const { method } = outgoing.head;
  const body =
    outgoing.body === null
      ? outgoing.held !== null || /^(POST|PUT|PATCH)$/.test(method)
        ? ['content-length', String(outgoing.held?.length ?? 0)]
        : []
      : length === undefined || request.headers['transfer-encoding'] !== undefined
        ? ['transfer-encoding', 'chunked']
        : ['content-length', length];
  return [
    'Host',
    port === 443 ? host : `${host}:${port}`,
    ...headers.flatMap(([name, value]) => (OWN.has(name.toLowerCase()) ? [] : [name, value])),
    ...encoding.flatMap((value) => ['Accept-Encoding', value]),
    ...body,
    ...(early === null ? ['Connection', 'keep-alive'] : ['Connection', 'Upgrade', 'Upgrade', 'websocket']),
  ];
}
