import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { canonicalHost, isName } from '@slipway/net';
import { authorityOf } from './admission/destination.js';
import { answerOf } from './admission/refusal.js';
import { metered } from './budget/metered.js';
import type { Gate } from './gate.js';
import { type FirstBytes, MAX_HELLO_BYTES, readFirstBytes } from './lines/client-hello.js';
import type { Line } from './lines/line.js';
import { cutOff } from './lines/open-lines.js';

/**
 * Longest silence of one end after the other has said all. Milliseconds: it may still have to answer, or it may not
 * know that the other end is gone.
 */
const REST_MS = 30_000;
/** The fatal alert `unrecognized_name`: what TLS clients can say in words. */
const UNRECOGNIZED_NAME = Buffer.from([0x15, 3, 3, 0, 2, 2, 112]);

export interface TunnelOptions {
  /** Longest silence of both ends. Milliseconds. */
  readonly idleMs: number;
  /** Where nothing but TLS passes. */
  readonly tlsPorts: readonly number[];
}

export interface ConnectRequest {
  readonly request: IncomingMessage;
  readonly client: Socket;
  readonly head: Buffer;
}

/** Serves one `CONNECT`: joins the sandbox with the host, once what it says first is what it asked for. */
export async function serveTunnel(
  gate: Gate,
  { request, client, head }: ConnectRequest,
  { idleMs, tlsPorts }: TunnelOptions,
): Promise<void> {
  const gone = new AbortController();
  client.removeAllListeners('timeout');
  client.setTimeout(idleMs, () => client.destroy());
  client.on('error', () => client.destroy());
  client.once('close', () => gone.abort());
  let line: Line;
  try {
    line = await gate.open('connect', request, () => authorityOf(request.url ?? ''), gone.signal);
  } catch (error) {
    const { status, phrase, headers, body } = answerOf(error);
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    if (client.writable)
      client.end(`HTTP/1.1 ${status} ${phrase}\r\n${head.join('')}\r\n${body}`, () => client.destroySoon());
    else client.destroy();
    return;
  }
  const { socket } = line;
  socket.on('error', () => socket.destroy());
  socket.setTimeout(idleMs, () => socket.destroy());
  // What is on its way still arrives; a connection that broke breaks the other end too.
  socket.once('close', (broken) =>
    broken || (line.cut !== null && line.cut !== 'server-name' && line.cut !== 'not-tls')
      ? client.destroy()
      : client.destroySoon(),
  );
  client.once('close', (broken) => (broken ? socket.destroy() : socket.destroySoon()));
  client.once('end', () => socket.setTimeout(Math.min(idleMs, REST_MS)));
  socket.once('end', () => client.setTimeout(Math.min(idleMs, REST_MS)));
  if (client.destroyed) return void socket.destroy();
  client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
  socket.pipe(client);
  if (head.length > 0) client.unshift(head);
  // credential-broker opens TLS and nothing else.
  passOnceChecked(line, client, line.admitted?.brokered === true || tlsPorts.includes(line.destination.port));
}

/** Holds back what the sandbox sends until its first bytes are known, then lets all of it through. */
function passOnceChecked(line: Line, client: Socket, onlyTls: boolean): void {
  let held = Buffer.alloc(0);
  const out = metered(line.allowance, line.socket, ({ why }) => cutOff(line, why));
  const decide = (): boolean => {
    const verdict = judge(line.destination.host, readFirstBytes(held), held.length, onlyTls);
    if (verdict === 'wait') return false;
    client.off('data', take).off('end', ended);
    client.pause();
    if (verdict !== 'pass') {
      line.socket.unpipe(client);
      client.end(verdict === 'server-name' ? UNRECOGNIZED_NAME : '');
      cutOff(line, verdict);
      return true;
    }
    out.write(held);
    client.pipe(out);
    return true;
  };
  const take = (chunk: Buffer): void => {
    held = Buffer.concat([held, chunk]);
    decide();
  };
  // Less than a beginning, and no more will come.
  const ended = (): void => void (onlyTls && held.length > 0 ? cutOff(line, 'not-tls') : out.end(held));
  client.on('data', take).once('end', ended);
}

/**
 * TLS must ask for the server that the proxy was asked for: behind many a listed host stand others (domain fronting).
 * Only the plain part of the handshake is read. What is sent within, and what an encrypted ClientHello hides, is not
 * seen here.
 */
function judge(
  host: string,
  first: FirstBytes,
  length: number,
  onlyTls: boolean,
): 'wait' | 'pass' | 'server-name' | 'not-tls' {
  if (first.kind === 'not-tls') return onlyTls ? 'not-tls' : 'pass';
  if (first.kind === 'malformed') return 'not-tls';
  if (first.kind === 'more') return length > MAX_HELLO_BYTES ? 'not-tls' : 'wait';
  // An address has no name to ask for.
  if (!isName(host) && first.serverName === null) return 'pass';
  return first.serverName !== null && canonicalHost(first.serverName) === host ? 'pass' : 'server-name';
}
