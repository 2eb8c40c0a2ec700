import type { IncomingMessage } from 'node:http';
import { type BrokerLine, PLACE_METHODS } from '@slipway/contracts/credentials';
import { canonicalHost, type RequestTarget, readRequestTarget } from '@slipway/net';
import { refused, unsupported } from './refusal.js';

/** Name, as it was written, and value. */
export type Header = readonly [name: string, value: string];

/** A request of a sandbox that can be read in one way alone, before it is known whether it is at a place. */
export interface RequestHead {
  readonly method: string;
  readonly target: RequestTarget;
  /** Without those of the connection itself. */
  readonly headers: readonly Header[];
}

/** Of one connection, and not of what is sent over it (RFC 9110 7.6.1). */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade',
]); // biome-ignore format: a list reads better in lines
const METHODS: ReadonlySet<string> = new Set(PLACE_METHODS);

/** @throws SlipwayError `credential.method-refused`, `.other-host`, `.request-refused`, `.unsupported`. */
export function readHead(
  { method = '', url = '', rawHeaders }: IncomingMessage,
  line: BrokerLine,
  isWebSocket = false,
): RequestHead {
  if (!METHODS.has(method))
    throw refused('credential.method-refused', 'method', `${method} is not passed on to ${line.host}.`);
  const headers = readHeaders(rawHeaders);
  const hosts = valuesOf(headers, 'host');
  if (hosts.length !== 1 || !isHostOf(hosts[0] ?? '', line))
    throw refused(
      'credential.other-host',
      'host',
      `This connection is for ${line.host}, and the request for another host.`,
    );
  const target = readRequestTarget(url);
  if (target === null)
    throw refused(
      'credential.request-refused',
      'path',
      `The path of this request to ${line.host} is not in its normal form, or is none.`,
    );
  if (!isWebSocket && valuesOf(headers, 'upgrade').some((value) => /websocket/i.test(value)))
    throw unsupported('The request is no handshake of a WebSocket: its header Connection does not say upgrade.');
  return { method, target, headers: withoutHopByHop(headers) };
}

export function readHeaders(rawHeaders: readonly string[]): Header[] {
  return rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as const] : []));
}

/** Without what is of one connection, by the standard or by its own word. */
export function withoutHopByHop(headers: readonly Header[]): Header[] {
  const named = new Set(
    valuesOf(headers, 'connection').flatMap((value) => value.split(',').map((name) => name.trim().toLowerCase())),
  );
  // Without it the end of the body is unknown, and what follows is another request.
  named.delete('content-length');
  return headers.filter(([name]) => !HOP_BY_HOP.has(name.toLowerCase()) && !named.has(name.toLowerCase()));
}

export function valuesOf(headers: readonly Header[], name: string): string[] {
  return headers.flatMap(([each, value]) => (each.toLowerCase() === name ? [value] : []));
}

function isHostOf(text: string, { host, port, tls }: BrokerLine): boolean {
  const [, name = '', written] = /^([^:]*)(?::([0-9]{1,5}))?$/.exec(text) ?? [];
  // By a path endpoint the port may be left out: the client knows another one.
  return canonicalHost(name) === host && (written === undefined ? port === 443 || !tls : Number(written) === port);
}
