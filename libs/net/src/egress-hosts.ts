const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;
const BYTE = /^(0|[1-9][0-9]{0,2})$/;

/** One entry of a list of hosts. */
export interface HostPattern {
  /** In the form of `canonicalHost`. */
  readonly host: string;
  /** `*.host`: every name below it, at any depth, and not the name itself. */
  readonly below: boolean;
  /** The only port that it is about; `null`: those that are open to all. */
  readonly port: number | null;
}

/**
 * A host in the one form in which hosts are compared: lower case, without the dot at its end; IPv6 in its short form,
 * without brackets. `null` for what is neither a name nor a plain address: numbers that some resolvers take for
 * addresses (`127.1`, `0x7f000001`, `2130706433`, `010.0.0.1`), names that are not in ASCII, anything with a user, a
 * path or a zone.
 */
export function canonicalHost(text: string): string | null {
  if (text.startsWith('[')) return ipv6Of(text);
  const host = text.toLowerCase().replace(/\.$/, '');
  if (host.length > 253) return null;
  const labels = host.split('.');
  if (labels.length === 4 && labels.every((label) => BYTE.test(label) && Number(label) <= 255)) return host;
  const last = labels.at(-1) ?? '';
  if (!labels.every((label) => LABEL.test(label)) || /^(\d+|0x[0-9a-f]*)$/.test(last)) return null;
  return host;
}

/**
 * `example.com`, `*.example.com`, an address; each with `:port` behind it if it is about that port alone. `null` for
 * anything else.
 */
export function readHostPattern(text: string): HostPattern | null {
  const parts = /^(\*\.)?(\[[^\]]*\]|[^:]*)(?::([1-9][0-9]{0,4}))?$/.exec(text);
  const host = parts?.[2] === undefined ? null : canonicalHost(parts[2]);
  const port = parts?.[3] === undefined ? null : Number(parts[3]);
  if (host === null || (port !== null && port > 65_535)) return null;
  const below = parts?.[1] !== undefined;
  // A single label is a name of this network, or all of a top-level domain.
  if (isName(host) ? !host.includes('.') : below) return null;
  return { host, below, port };
}

/** Whether the pattern is about this host, given in the form of `canonicalHost`. Its port is ignored. */
export function namesHost(pattern: HostPattern, host: string): boolean {
  return pattern.below ? host.length > pattern.host.length && host.endsWith(`.${pattern.host}`) : host === pattern.host;
}

/** Whether a host in the form of `canonicalHost` is a name, and not an address. */
export function isName(host: string): boolean {
  return !host.includes(':') && !/^[0-9.]+$/.test(host);
}

function ipv6Of(text: string): string | null {
  if (!/^\[[0-9a-fA-F:.]+\]$/.test(text)) return null;
  return URL.parse(`http://${text}/`)?.hostname.slice(1, -1) ?? null;
}
