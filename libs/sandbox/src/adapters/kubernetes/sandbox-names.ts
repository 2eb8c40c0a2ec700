import type { V1PodSpec } from '@kubernetes/client-node';
import type { EgressClass } from '@slipway/contracts/sandboxes';

/** DNS of sandboxes: none, or the cluster's. */
export type SandboxDns = 'none' | 'cluster';

/** A name that sandboxes need and its address. */
export interface HostAddress {
  readonly name: string;
  readonly address: string;
}

export interface SandboxNames {
  /** `none`: every class but `open`, which needs the names of the world. */
  readonly dns: SandboxDns;
  /** What a sandbox without a resolver knows by name; a pod keeps its own for its lifetime. */
  readonly hosts: readonly HostAddress[];
}

/**
 * No server listens there in a sandbox, so that a query is refused at once instead of timing out. Loopback, because
 * network policies do not apply to it: they drop queries silently.
 */
const NO_RESOLVER = '127.0.0.1';

/**
 * What a pod's spec says on names; nothing at all for one that asks the cluster's DNS, for which `hosts` is not read.
 */
export function namesOf(
  egress: EgressClass,
  names: SandboxNames,
): Pick<V1PodSpec, 'dnsPolicy' | 'dnsConfig' | 'hostAliases'> {
  if (names.dns === 'cluster' || egress === 'open') return {};
  const named = names.hosts.map(({ name, address }) => ({ ip: address, hostnames: [name] }));
  return {
    dnsPolicy: 'None',
    dnsConfig: {
      nameservers: [NO_RESOLVER],
      options: [
        { name: 'timeout', value: '1' },
        { name: 'attempts', value: '1' },
      ],
    },
    // The kubelet writes them into /etc/hosts; the API server keeps an empty list apart from none.
    ...(named.length === 0 ? {} : { hostAliases: named }),
  };
}
