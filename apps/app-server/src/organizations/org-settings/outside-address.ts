import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { SlipwayError } from '@slipway/errors';
import { isPublicAddress } from '@slipway/net';

/** Longest wait for the name service. Milliseconds. */
const LOOKUP_MS = 3_000;

export type Resolve = (host: string) => Promise<readonly string[]>;

/**
 * Whether Slipway may call an address entered by a user: https, no user in it, and every address of its host public.
 * Names that cannot be resolved now are let through: the check is a courtesy at saving, and the caller checks what it
 * connects to again.
 * @throws SlipwayError `settings.url-refused`
 */
export async function assertOutside(
  text: string,
  allowPrivate: boolean,
  resolve: Resolve = addressesOf,
): Promise<void> {
  const url = URL.parse(text);
  if (url === null) throw refused('It is not a URL.');
  if (url.username !== '' || url.password !== '')
    throw refused('It carries a user or a password; keep that as a secret.');
  if (allowPrivate && /^https?:$/.test(url.protocol)) return;
  if (url.protocol !== 'https:') throw refused('It is not an https address.');
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (
    /(?:^|\.)(?:localhost|local|internal|localdomain|home\.arpa)$/i.test(host) ||
    (isIP(host) === 0 && !host.includes('.'))
  )
    throw refused(`${host} is a name inside of a network.`);
  const addresses = isIP(host) === 0 ? await resolve(host).catch(() => []) : [host];
  if (addresses.some(isInside)) throw refused(`${host} has an address that is not public.`);
}

/** Local, private or reserved addresses, which callers must not reach through us. */
export function isInside(address: string): boolean {
  return !isPublicAddress(address);
}

async function addressesOf(host: string): Promise<string[]> {
  const found = lookup(host, { all: true }).then((addresses) => addresses.map(({ address }) => address));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the name service does not answer')), LOOKUP_MS);
  });
  return Promise.race([found, late]).finally(() => clearTimeout(timer));
}

function refused(why: string): SlipwayError {
  return new SlipwayError('settings.url-refused', why);
}
