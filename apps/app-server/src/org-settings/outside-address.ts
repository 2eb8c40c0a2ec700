import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { SlipwayError } from '@slipway/errors';

/** Longest wait for the name service. Milliseconds. */
const LOOKUP_MS = 3_000;

/** Addresses that mean this machine, its network or nobody in particular: what stands there is not the caller's to reach through us. */
const INSIDE_4 = new BlockList();
/** Apart: an IPv4 address is looked for among mapped IPv6 ones too. */
const INSIDE_6 = new BlockList();
for (const [net, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  INSIDE_4.addSubnet(net, prefix, 'ipv4');
for (const [net, prefix] of [
  ['::', 96],
  ['::ffff:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 9],
  ['ff00::', 8],
] as const)
  INSIDE_6.addSubnet(net, prefix, 'ipv6');

export type Resolve = (host: string) => Promise<readonly string[]>;

/**
 * Whether Slipway may call an address that somebody has typed: https, no user in it, and every address of its host public. Names that cannot be resolved now are
 * let through: the check is a courtesy at saving, and whoever calls the address checks what it connects to again.
 * @throws SlipwayError `settings.url-refused`
 */
export async function assertOutside(text: string, allowPrivate: boolean, resolve: Resolve = addressesOf): Promise<void> {
  const url = URL.parse(text);
  if (url === null) throw refused('It is not a URL.');
  if (url.username !== '' || url.password !== '') throw refused('It carries a user or a password; keep that as a secret.');
  if (allowPrivate && /^https?:$/.test(url.protocol)) return;
  if (url.protocol !== 'https:') throw refused('It is not an https address.');
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (/(?:^|\.)(?:localhost|local|internal|localdomain|home\.arpa)$/i.test(host) || (isIP(host) === 0 && !host.includes('.')))
    throw refused(`${host} is a name inside of a network.`);
  const addresses = isIP(host) === 0 ? await resolve(host).catch(() => []) : [host];
  if (addresses.some(isInside)) throw refused(`${host} has an address that is not public.`);
}

export function isInside(address: string): boolean {
  const family = isIP(address);
  if (family === 0) return true;
  return family === 6 ? INSIDE_6.check(address, 'ipv6') : INSIDE_4.check(address, 'ipv4');
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
