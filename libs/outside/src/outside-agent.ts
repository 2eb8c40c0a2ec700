import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { SlipwayError } from '@slipway/errors';
import { isPublicAddress } from '@slipway/net';
import { Agent, buildConnector } from 'undici';
import { type ClientOptions, WebSocket } from 'ws';
import { CONNECT_MS } from './connect.js';
import { problemOfUrl } from './url.js';

/** Longest frame of a socket. Bytes. */
const MAX_FRAME_BYTES = 1024 * 1024;

/** As `dns.lookup`. */
export type Lookup = (
  host: string,
  options: { readonly all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * For `fetch` and `request` of undici: connections to addresses that a tenant has typed. Each is judged when it is
 * made, that of a redirect too: https, a port that is no other service's, a name resolved once, all of its addresses
 * public, the connection to one of those. TLS is verified against the name.
 *
 * What is refused is `settings.url-refused`, within the cause of what `fetch` throws (`isRefusedAddress`).
 */
export function outsideAgent(options: Omit<Agent.Options, 'connect'> = {}, find: Lookup = lookup): Agent {
  const connect = buildConnector({ timeout: CONNECT_MS, lookup: outsideLookup(find) });
  return new Agent({
    ...options,
    connect: (target, done) => {
      const url = URL.parse(`${target.protocol}//${target.hostname}${target.port === '' ? '' : `:${target.port}`}`);
      const problem = url === null ? 'It is not a URL.' : problemOfUrl(url);
      if (problem !== null) return done(refused(problem), null);
      connect(target, done);
    },
  });
}

/**
 * A WebSocket under the same rules. It follows no redirect and takes no compression.
 * @param anywhere the host is one that the operator named: it may be in this network, and unencrypted.
 * @throws SlipwayError `settings.url-refused`; as an `error` of the socket when a name turns out to lead inside.
 */
export function outsideSocket(
  text: string,
  { anywhere }: { readonly anywhere: boolean },
  find: Lookup = lookup,
): WebSocket {
  const url = URL.parse(text);
  if (url === null) throw refused('It is not a URL.');
  if (anywhere ? !/^wss?:$/.test(url.protocol) : problemOfUrl(url, ['wss:']) !== null)
    throw refused('The address of the connection is none of the internet.');
  const options = {
    handshakeTimeout: CONNECT_MS,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
    followRedirects: false,
  };
  return new WebSocket(url, { ...options, ...(anywhere ? {} : { lookup: outsideLookup(find) }) } as ClientOptions);
}

/** Whether a call was not made because of where its address leads. */
export function isRefusedAddress(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause)
    if (each instanceof SlipwayError && each.code === 'settings.url-refused') return true;
  return false;
}

/**
 * Finds a name's addresses, if all of them are the internet's. The socket connects to one of them: the name cannot be
 * rebound in between. One that is public and another that is not are a name on its way to be rebound.
 */
const outsideLookup =
  (find: Lookup): LookupFunction =>
  (host, options, done) => {
    find(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return done(error, []);
      const [first] = addresses;
      if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
        return done(refused(`${host} has an address that is not public.`), []);
      if (options.all === true) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };

function refused(why: string): SlipwayError {
  return new SlipwayError('settings.url-refused', why);
}
