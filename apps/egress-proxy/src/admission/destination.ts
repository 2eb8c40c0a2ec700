import { canonicalHost } from '@slipway/net';
import { refused } from './refusal.js';

export interface Destination {
  /** In the form of `canonicalHost`. */
  readonly host: string;
  readonly port: number;
}

/** Of `CONNECT host:port`. @throws SlipwayError `egress.refused`. */
export function authorityOf(target: string): Destination {
  const [, host = '', port = ''] = /^(\[[^\]]*\]|[^:[\]]*):([1-9][0-9]{0,4})$/.exec(target) ?? [];
  return destination(host, Number(port));
}

/**
 * Of `GET http://host/path`, with the path as it was written.
 * @throws SlipwayError `egress.refused`: no absolute address, one with a user, or one that is not plain http (https
 * goes through CONNECT, so that the proxy cannot read it).
 */
export function absoluteOf(target: string): Destination & { readonly path: string } {
  const [, authority = '', rest = ''] = /^http:\/\/([^/?#@]+)([/?][^#]*)?$/i.exec(target) ?? [];
  const [, host = '', port = '80'] = /^(\[[^\]]*\]|[^:[\]]*)(?::([1-9][0-9]{0,4}))?$/.exec(authority) ?? [];
  return { ...destination(host, Number(port)), path: rest.startsWith('/') ? rest : `/${rest}` };
}

/** Where path endpoints are, in requests that name this proxy itself. */
const PATH_ENDPOINT = '/-/';

export function isPathEndpoint(target: string): boolean {
  return target.startsWith(PATH_ENDPOINT);
}

/**
 * Of `GET /-/https/host[:port]/path`, with the path as it was written.
 * @throws SlipwayError `egress.refused`.
 */
export function pathEndpointOf(target: string): Destination & { readonly path: string } {
  const [, authority = '', rest = ''] = /^\/-\/https\/([^/?#@]+)([/?][^#]*)?$/.exec(target) ?? [];
  const [, host = '', port = '443'] = /^(\[[^\]]*\]|[^:[\]]*)(?::([1-9][0-9]{0,4}))?$/.exec(authority) ?? [];
  return { ...destination(host, Number(port)), path: rest.startsWith('/') ? rest : `/${rest}` };
}

function destination(text: string, port: number): Destination {
  const host = canonicalHost(text);
  if (host === null || !(port >= 1 && port <= 65_535))
    throw refused(
      'request',
      'The request names no host that this proxy understands. Write a name (or a plain address) and a port, as in CONNECT example.com:443, GET http://example.com/ or GET /-/https/example.com/.',
    );
  return { host, port };
}
