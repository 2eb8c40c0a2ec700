import { networkInterfaces } from 'node:os';
import { isPublicAddress } from '@slipway/net';
import type { AddressRanges } from './address-ranges.js';

export interface AddressRules {
  /** Pods, services, nodes and the API server: never, not even where they have public addresses. */
  readonly cluster: AddressRanges;
  /**
   * Addresses that are not of the internet and that listed hosts may have all the same, such as those of a mirror in
   * this network.
   */
  readonly permitted: AddressRanges;
}

/**
 * Those of a host's addresses to which a connection may be made; the others are left out. An address of this machine
 * itself has to be permitted by its own number: on one machine a mirror may stand there.
 */
export function reachableOf(
  addresses: readonly string[],
  { cluster, permitted }: AddressRules,
  own = ownAddresses(),
): string[] {
  return addresses.filter(
    (address) =>
      !cluster.has(address) &&
      (!own.has(address) || permitted.names(address)) &&
      (isPublicAddress(address) || permitted.has(address)),
  );
}

/** Of this pod; loopback is in no range that is public. */
function ownAddresses(): ReadonlySet<string> {
  return new Set(
    Object.values(networkInterfaces())
      .flatMap((found) => found ?? [])
      .filter(({ internal }) => !internal)
      .map(({ address }) => address),
  );
}
