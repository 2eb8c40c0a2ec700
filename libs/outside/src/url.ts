import { isIP } from 'node:net';
import { isInsideName, isPublicAddress } from '@slipway/net';

/**
 * Ports of services that take a line of text for a command, and would take one out of a request: the WHATWG Fetch
 * Standard's "bad ports".
 */
const BAD_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540,
  548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566,
  6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]); // biome-ignore format: a list reads better in lines

/**
 * Why a tenant's URL may not be called, as far as the URL alone says it: its scheme, its port, a name of a network, an
 * address that is not public. What the name resolves to is judged when it is connected to.
 * @param schemes those that are taken, such as `https:`.
 * @returns a sentence, or `null`.
 */
export function problemOfUrl(url: URL, schemes: readonly string[] = ['https:']): string | null {
  if (!schemes.includes(url.protocol)) return `It is not an ${schemes[0]?.slice(0, -1)} address.`;
  if (url.port !== '' && BAD_PORTS.has(Number(url.port))) return `Port ${url.port} is that of another service.`;
  const host = hostOf(url);
  if (isIP(host) !== 0) return isPublicAddress(host) ? null : `${host} has an address that is not public.`;
  return isInsideName(host) ? `${host} is a name inside of a network.` : null;
}

/**
 * Without the brackets of IPv6 and the dot of the root. URL has read odd forms of IPv4 already: `0x7f.1` is 127.0.0.1.
 */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}
