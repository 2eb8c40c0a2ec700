import { lookup } from 'node:dns';
import { isIP } from 'node:net';
import { isPublicAddress } from './public-address.js';

/**
 * For sockets: finds a name's addresses, if all of them are the internet's. The connection uses the checked address:
 * the name cannot be rebound in between. An address is connected to without a lookup: `isInsideLiteral` checks those.
 * @param refused made for a name that leads inside.
 */
export function publicLookup(refused: () => Error): typeof lookup {
  return ((host: string, options: object, done: (error: Error | null, address?: unknown, family?: number) => void) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return done(error);
      const [first] = addresses;
      if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address))) return done(refused());
      if ((options as { all?: boolean }).all === true) return done(null, addresses);
      done(null, first.address, first.family);
    });
  }) as typeof lookup;
}

/** Whether a URL's host is an address, and none of the internet's. */
export function isInsideLiteral(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  return isIP(host) !== 0 && !isPublicAddress(host);
}
