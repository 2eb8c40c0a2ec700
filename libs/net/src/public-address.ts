import { BlockList, isIP } from 'node:net';

/**
 * IPv4 ranges that are local, private, for documentation, relays or multicast. IANA's registry of special-purpose
 * addresses, and what clouds have put elsewhere.
 */
const INSIDE_4 = new BlockList();
for (const [net, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // The host agent of Azure's nodes.
  ['168.63.129.16', 32],
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

/**
 * What is given out for the internet. So loopback, IPv4-mapped, NAT64, private, link-local and multicast addresses lie
 * outside without being named.
 */
const GIVEN_OUT_6 = new BlockList();
GIVEN_OUT_6.addSubnet('2000::', 3, 'ipv6');
/** Within that: addresses that carry an IPv4 one (Teredo and its like, 6to4), and documentation. */
const INSIDE_6 = new BlockList();
for (const [net, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  INSIDE_6.addSubnet(net, prefix, 'ipv6');

/** Names that a network keeps for itself: RFC 6761, 6762, 8375, and what routers, clouds and Kubernetes add. */
const INSIDE_NAMES = /(?:^|\.)(?:localhost|local|internal|localdomain|home\.arpa|svc)$/i;

/** Whether a name is one inside of a network: of one label, or below a suffix that the internet has not. */
export function isInsideName(name: string): boolean {
  return !name.includes('.') || INSIDE_NAMES.test(name);
}

/** Whether an address is public, from everywhere. `false` for what is no address. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !INSIDE_4.check(address, 'ipv4');
  // A zone is about this machine.
  return (
    family === 6 && !address.includes('%') && GIVEN_OUT_6.check(address, 'ipv6') && !INSIDE_6.check(address, 'ipv6')
  );
}
