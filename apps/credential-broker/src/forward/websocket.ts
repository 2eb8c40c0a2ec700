import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Passed } from '../judge/judge-request.js';
import { unsupported } from '../judge/refusal.js';
import { type Header, readHeaders, valuesOf } from '../judge/request-head.js';

/** Whether a request asks for a WebSocket, and for no other protocol. */
export function asksForWebSocket({ rawHeaders }: IncomingMessage): boolean {
  return valuesOf(readHeaders(rawHeaders), 'upgrade').some((value) => /websocket/i.test(value));
}

/**
 * Only the handshake is judged: frames are not read.
 * @throws SlipwayError `credential.unsupported` where no place and no rule says so, and for a handshake that is none.
 */
export function assertWebSocket(request: IncomingMessage, passed: Passed, host: string): void {
  if (!maySpeak(passed))
    throw unsupported(`WebSockets to ${host} pass only where a place or a rule says so (websocket), and this says no.`);
  const headers = readHeaders(request.rawHeaders);
  const [key = ''] = valuesOf(headers, 'sec-websocket-key');
  const isHandshake =
    request.method === 'GET' &&
    valuesOf(headers, 'upgrade').join().toLowerCase() === 'websocket' &&
    valuesOf(headers, 'sec-websocket-version').join() === '13' &&
    /^[A-Za-z0-9+/]{22}==$/.test(key);
  if (
    !isHandshake ||
    request.headers['transfer-encoding'] !== undefined ||
    Number(request.headers['content-length'] ?? 0) > 0
  )
    throw unsupported('The request is no handshake of a WebSocket: GET, version 13, a key, and no body.');
  if (passed.credential?.use.form === 'aws-sigv4')
    throw unsupported(
      'A handshake of a WebSocket is not signed for AWS. Use a signed URL made outside of the sandbox.',
    );
}

/** Whether WebSockets pass where this request is. */
export function maySpeak(passed: Passed): boolean {
  return passed.credential === null ? passed.websocket : passed.place.websocket === true;
}

export interface Joining {
  /** Of the host's 101, as the sandbox gets them. */
  readonly headers: readonly Header[];
  readonly message: string;
  /** What came behind the handshake, and behind its answer. */
  readonly early: { readonly client: Buffer; readonly host: Buffer };
}

/**
 * Answers the handshake and lets bytes pass both ways, each as fast as the other end takes them, until one ends. The
 * connection to the host ends by itself when nothing came for too long.
 */
export function joinSockets(response: ServerResponse, host: Socket, joining: Joining): Promise<void> {
  const client = response.socket as Socket;
  response.detachSocket(client);
  client.setTimeout(0);
  const lines = [['Connection', 'Upgrade'] as Header, ['Upgrade', 'websocket'] as Header, ...joining.headers];
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  client.write(`HTTP/1.1 101 ${joining.message}\r\n${head}\r\n`, 'latin1');
  if (joining.early.client.length > 0) host.write(joining.early.client);
  if (joining.early.host.length > 0) client.write(joining.early.host);
  return new Promise((resolve) => {
    const ended = (): void => {
      client.destroySoon();
      host.destroySoon();
      if (client.closed && host.closed) resolve();
    };
    for (const socket of [client, host]) socket.on('error', () => socket.destroy()).once('close', ended);
    host.pipe(client);
    client.pipe(host);
    if (client.destroyed || host.destroyed) {
      client.destroy();
      host.destroy();
    }
  });
}
