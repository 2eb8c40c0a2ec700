import { request as httpRequest, type IncomingMessage, type RequestOptions, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { SlipwayError } from '@slipway/errors';
import { type AdmitFrame, ClientFrames } from './client-frames.js';
import { closeFrame, FrameBoundary } from './frame-boundary.js';
import { CONNECT_TIMEOUT_MS } from './sandbox-connection.js';

/** A peer that is gone without a word is noticed after this and ten seconds of probes. Milliseconds. */
const KEEP_ALIVE_MS = 15_000;
/** Longest wait for the sandbox's answer to an upgrade. Milliseconds. */
const ANSWER_TIMEOUT_MS = 30_000;
/** Longest wait for the end of a frame under way, and for a client to close after its close frame. Milliseconds. */
const LEAVE_MS = 1_000;

/** Both ends of an upgraded connection, joined byte by byte. */
export interface Tunnel {
  /** Ends both at once. */
  destroy(): void;
  /**
   * Sends the client a close code, after the frame that is under way to it, and ends both. A client that does not read
   * is cut off after a second.
   */
  leave(code: number, reason: string): void;
  readonly closed: Promise<void>;
}

export interface TunnelHandlers {
  readonly answer: (headers: IncomingMessage['headers']) => string[];
  readonly said: (length: number) => void;
  readonly admit?: AdmitFrame | null | undefined;
}

/**
 * Asks the sandbox for the same upgrade and joins the two connections: raw bytes, each way no faster than the other end
 * reads, so that extensions and subprotocols are the ends' own affair. Pings are theirs too; a dead peer is noticed by
 * TCP keep-alive. Half a connection is closed with the other. A sandbox that answers with something else than an
 * upgrade has its answer passed on.
 *
 * @param said called for each frame with data of the client, by the length of its payload. Bytes.
 * @param admit each frame with data of the client waits for it; one that is refused closes the tunnel (`refusalOf`).
 * `null`: nothing waits.
 * @throws SlipwayError `sandbox.unreachable`, `sandbox.timeout`
 */
export function openTunnel(
  client: Duplex,
  head: Buffer,
  to: { readonly origin: string; readonly path: string; readonly headers: string[]; readonly upgrade: string },
  { answer, said, admit = null }: TunnelHandlers,
): Promise<Tunnel | null> {
  return new Promise((resolve, reject) => {
    const url = new URL(to.origin);
    const options: RequestOptions = {
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? 80 : url.port,
      path: to.path,
      method: 'GET',
      agent: false,
      headers: [...to.headers, 'connection', 'Upgrade', 'upgrade', to.upgrade],
      timeout: ANSWER_TIMEOUT_MS,
    };
    const outgoing = httpRequest(options);
    const gone = (): void => void outgoing.destroy();
    const connecting = setTimeout(
      () => outgoing.destroy(new Error(`no connection within ${CONNECT_TIMEOUT_MS} ms`)),
      CONNECT_TIMEOUT_MS,
    );
    outgoing.once('socket', (socket) => socket.once('connect', () => clearTimeout(connecting)));
    outgoing.once('timeout', () =>
      outgoing.destroy(new SlipwayError('sandbox.timeout', 'The sandbox did not answer the upgrade.')),
    );
    client.once('close', gone);
    outgoing.once('error', (error) => {
      clearTimeout(connecting);
      reject(
        error instanceof SlipwayError
          ? error
          : new SlipwayError('sandbox.unreachable', 'Nothing answers on this port of the sandbox.', {
              cause: error,
              retryAfterSeconds: 1,
            }),
      );
    });
    outgoing.once('upgrade', (response, sandbox, sandboxHead) => {
      client.off('close', gone);
      client.write(
        `${headText(101, ['connection', 'Upgrade', 'upgrade', response.headers.upgrade ?? to.upgrade, ...answer(response.headers)])}`,
      );
      if (sandboxHead.length > 0) client.write(sandboxHead);
      resolve(join(client as Socket, sandbox as Socket, { head, sandboxHead, said, admit }));
    });
    outgoing.once('response', (response) => {
      client.write(headText(response.statusCode ?? 502, ['connection', 'close', ...answer(response.headers)]));
      response.pipe(client);
      response.once('error', () => client.destroy());
      resolve(null);
    });
    outgoing.end();
  });
}

interface Joined {
  readonly head: Buffer;
  readonly sandboxHead: Buffer;
  readonly said: (length: number) => void;
  readonly admit: AdmitFrame | null;
}

function join(client: Socket, sandbox: Socket, { head, sandboxHead, said, admit }: Joined): Tunnel {
  for (const socket of [client, sandbox]) {
    socket.setTimeout(0);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
  }
  const destroy = (): void => {
    client.destroy();
    sandbox.destroy();
  };
  client.on('error', destroy);
  sandbox.on('error', destroy);
  // What was written is still delivered to an end that reads; then that is closed too.
  client.once('close', () => sandbox.destroySoon());
  sandbox.once('close', () => client.destroySoon());
  const frames = admit === null ? null : new ClientFrames(admit);
  frames?.pipe(sandbox);
  if (head.length > 0) (frames ?? sandbox).write(head);
  client.pipe(frames ?? sandbox);
  sandbox.pipe(client);
  const toSandbox = new FrameBoundary(said);
  toSandbox.push(head);
  client.on('data', (chunk: Buffer) => toSandbox.push(chunk));
  const toClient = new FrameBoundary();
  toClient.push(sandboxHead);
  let goodbye: Buffer | null = null;
  const sayGoodbye = (): void => {
    if (goodbye === null || !toClient.between || client.writableEnded) return;
    sandbox.unpipe(client);
    if (toClient.closed) client.end();
    else client.end(goodbye);
  };
  // After the pipe's own listener: what is counted here is written already.
  sandbox.on('data', (chunk: Buffer) => {
    if (client.writableEnded) return;
    toClient.push(chunk);
    sayGoodbye();
  });
  const leave = (code: number, reason: string): void => {
    goodbye ??= closeFrame(code, reason);
    sayGoodbye();
    setTimeout(destroy, LEAVE_MS).unref();
  };
  frames?.on('error', (error) => {
    // Read on and thrown away: the client's own goodbye must still be heard.
    client.resume();
    leave(...refusalOf(error));
  });
  const closed = Promise.all(
    [client, sandbox].map(
      (socket) => new Promise<void>((done) => (socket.destroyed ? done() : socket.once('close', () => done()))),
    ),
  );
  return { destroy, leave, closed: closed.then(() => {}) };
}

/**
 * Close code and reason of a socket whose client said what it may not: 4001 and 1008 for what a new connection does not
 * change, 1013 for later. At most 123 bytes.
 */
export function refusalOf(error: unknown): [code: number, reason: string] {
  const code = (error as { code?: unknown } | null)?.code;
  if (code === 'budget.exhausted')
    return [1008, 'budget.exhausted: your budget or the one of the organization is used up; an admin can raise it'];
  if (code === 'auth.missing') return [4001, 'access has ended'];
  return [1013, 'service.unavailable: this cannot be checked or written down now; connect again'];
}

function headText(status: number, headers: readonly string[]): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
  for (let index = 0; index < headers.length; index += 2) text += `${headers[index]}: ${headers[index + 1]}\r\n`;
  return `${text}\r\n`;
}
