import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import os from 'node:os';
import { isMetadataAddress, isMetadataHost } from '@slipway/net';

/**
 * Where a connection of the browser goes: to addresses that were checked, or through the sandbox's own proxy; or why to
 * nowhere.
 */
export type WayOut =
  | {
      readonly kind: 'direct';
      readonly addresses: ReadonlyArray<{
        readonly address: string;
        readonly family: number;
      }> /** It is this machine. */;
      readonly own: boolean;
    }
  | { readonly kind: 'proxy'; readonly proxy: URL }
  | { readonly kind: 'refused'; readonly because: string }
  | { readonly kind: 'unreachable'; readonly because: string };

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addSubnet('0.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');
LOOPBACK.addAddress('::', 'ipv6');

export interface WayOutOptions {
  /** The environment of the shell, with the variables of the sandbox's proxy. */
  readonly variables: () => Readonly<Record<string, string>>;
  /** Ports of this machine that no page may reach. */
  readonly refusedPorts: () => ReadonlySet<number>;
}

/**
 * What a page may reach: what the shell may, except the ports of the sandbox's own servers. Names are resolved here,
 * once, and the connection is made to what was checked, so that neither a redirect nor a name that points to this
 * machine leads around it. A name for the sandbox's proxy is resolved there.
 */
export async function wayOutTo(
  host: string,
  port: number,
  { variables, refusedPorts }: WayOutOptions,
): Promise<WayOut> {
  const name = host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  const local = name === 'localhost' || name.endsWith('.localhost');
  const proxy = local || isOwn(name) ? null : proxyFor(name, port, variables());
  if (isMetadataHost(name)) return notThere(name);
  if (proxy !== null) return { kind: 'proxy', proxy };
  let addresses: Array<{ address: string; family: number }>;
  try {
    addresses = local
      ? [
          { address: '127.0.0.1', family: 4 },
          { address: '::1', family: 6 },
        ]
      : (await lookup(name, { all: true, verbatim: true })).slice(0, 16);
  } catch {
    return { kind: 'unreachable', because: `There is no host ${name}.` };
  }
  for (const { address } of addresses) {
    if (isMetadataAddress(address)) return notThere(name);
    if (refusedPorts().has(port) && isOwn(address))
      return {
        kind: 'refused',
        because: `Port ${port} of this machine belongs to the sandbox's own servers; no page may reach it.`,
      };
  }
  return { kind: 'direct', addresses, own: addresses.some(({ address }) => isOwn(address)) };
}

function notThere(name: string): WayOut {
  return {
    kind: 'refused',
    because: `${name} is an address of the network's own administration; no page may reach it.`,
  };
}

/** A v4 address that is written as a v6 one is checked as what it is: BlockList knows that form. */
function isIn(list: BlockList, address: string): boolean {
  return isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** Whether a host of an address means this machine, for any resolver. */
export function isThisMachine(hostname: string): boolean {
  const name = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  return name === 'localhost' || name.endsWith('.localhost') || name === os.hostname().toLowerCase() || isOwn(name);
}

/** Whether it is this machine: loopback or one of its own addresses, in any form. */
function isOwn(address: string): boolean {
  if (isIP(address) === 0) return false;
  if (isIn(LOOPBACK, address)) return true;
  const own = new BlockList();
  for (const each of Object.values(os.networkInterfaces()).flatMap((list) => list ?? []))
    own.addAddress(each.address, each.family === 'IPv6' ? 'ipv6' : 'ipv4');
  return isIn(own, address);
}

/** The sandbox's proxy for this host, as curl would choose it; `null`: none. */
function proxyFor(name: string, port: number, env: Readonly<Record<string, string>>): URL | null {
  const all = env['ALL_PROXY'] ?? env['all_proxy'];
  const given =
    port === 80 ? (env['http_proxy'] ?? env['HTTP_PROXY'] ?? all) : (env['https_proxy'] ?? env['HTTPS_PROXY'] ?? all);
  if (given === undefined || given === '') return null;
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  return excepted(name, port, env['no_proxy'] ?? env['NO_PROXY'] ?? '') ? null : url;
}

/** `NO_PROXY`: names with all that is below them, addresses, networks (`10.0.0.0/8`), each with or without a port. */
function excepted(name: string, port: number, list: string): boolean {
  return list.split(/[,\s]+/).some((entry) => {
    if (entry === '*') return true;
    const network = /^([\d.:a-f]+)\/(\d{1,3})$/i.exec(entry);
    if (network !== null) return isInNetwork(name, network[1] ?? '', Number(network[2]));
    const [, pattern = '', of] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    const suffix = pattern.replace(/^\*?\./, '');
    return (
      suffix !== '' && (of === undefined || Number(of) === port) && (name === suffix || name.endsWith(`.${suffix}`))
    );
  });
}

function isInNetwork(name: string, network: string, bits: number): boolean {
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
  if (isIP(network) === 0 || isIP(name) !== isIP(network)) return false;
  try {
    const list = new BlockList();
    list.addSubnet(network, bits, family);
    return list.check(name, family);
  } catch {
    return false;
  }
}
