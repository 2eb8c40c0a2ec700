import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { SlipwayError } from '@slipway/errors';
import { isPublicAddress } from '@slipway/net';
import type { Resolve } from './resolver.js';
import { hostOf, problemOfUrl } from './url.js';

/** Longest wait for the name service. Milliseconds. */
const LOOKUP_MS = 3_000;

/**
 * Whether Slipway may call an address entered by a user: https, no user in it, and every address of its host public.
 * Names that cannot be resolved now are let through: the check is a courtesy at saving, and `OutsideAgent` checks what
 * it connects to.
 * @param allowPrivate takes any http or https address, for development and for hosts that an operator named.
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
  const problem = problemOfUrl(url);
  if (problem !== null) throw refused(problem);
  const host = hostOf(url);
  const addresses = isIP(host) === 0 ? await resolve(host).catch(() => []) : [];
  if (!addresses.every(isPublicAddress)) throw refused(`${host} has an address that is not public.`);
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
