import { BlockList, isIPv4, SocketAddress } from 'node:net';

/** The fields of networking.k8s.io/v1 that we read. */
export interface NetworkPolicy {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: {
    readonly podSelector: Selector;
    readonly policyTypes?: readonly ('Ingress' | 'Egress')[];
    readonly ingress?: readonly { readonly from?: readonly Peer[]; readonly ports?: readonly PolicyPort[] }[];
    readonly egress?: readonly { readonly to?: readonly Peer[]; readonly ports?: readonly PolicyPort[] }[];
  };
}
interface Selector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}
interface Peer {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}
interface PolicyPort {
  readonly protocol?: Protocol;
  readonly port?: number | string;
  readonly endPort?: number;
}
type Labels = Readonly<Record<string, string>>;
export type Protocol = 'TCP' | 'UDP' | 'SCTP';

export interface PodEnd {
  readonly namespace: string;
  readonly labels: Labels;
  readonly ip: string;
}
/** One end of a connection: a pod, or an address that no pod has. */
export type End = PodEnd | { readonly ip: string };

/**
 * What the documentation of NetworkPolicy says about one connection, over policies as the API server stores them. Where
 * it leaves freedom to the plugin we take what lets more through: an ipBlock matches the addresses of pods too. A named
 * port matches nothing: ours are numbers, and a name would be read from the pod that is asked.
 */
export function isAllowed(
  policies: readonly NetworkPolicy[],
  from: End,
  to: End,
  protocol: Protocol,
  port: number,
): boolean {
  return passes(policies, 'Egress', from, to, protocol, port) && passes(policies, 'Ingress', to, from, protocol, port);
}

function passes(
  policies: readonly NetworkPolicy[],
  type: 'Ingress' | 'Egress',
  subject: End,
  other: End,
  protocol: Protocol,
  port: number,
): boolean {
  if (!('namespace' in subject)) return true;
  const selecting = policies.filter(
    ({ metadata, spec }) =>
      metadata.namespace === subject.namespace &&
      typesOf(spec).includes(type) &&
      selects(spec.podSelector, subject.labels),
  );
  if (selecting.length === 0) return true;
  return selecting.some(({ metadata, spec }) => {
    const rules =
      type === 'Egress'
        ? (spec.egress ?? []).map((rule) => ({ ...rule, peers: rule.to }))
        : (spec.ingress ?? []).map((rule) => ({ ...rule, peers: rule.from }));
    return rules.some(({ peers = [], ports = [] }) => {
      const peerFits = peers.length === 0 || peers.some((peer) => matches(peer, metadata.namespace, other));
      return peerFits && (ports.length === 0 || ports.some((one) => carries(one, protocol, port)));
    });
  });
}

function typesOf(spec: NetworkPolicy['spec']): readonly string[] {
  return spec.policyTypes ?? (spec.egress === undefined ? ['Ingress'] : ['Ingress', 'Egress']);
}

function matches(peer: Peer, ownNamespace: string, end: End): boolean {
  if (peer.ipBlock !== undefined)
    return contains(peer.ipBlock.cidr, end.ip) && !(peer.ipBlock.except ?? []).some((range) => contains(range, end.ip));
  if (!('namespace' in end)) return false;
  // The one label that every namespace has and no user can change; our policies use no other.
  const inNamespace =
    peer.namespaceSelector === undefined
      ? end.namespace === ownNamespace
      : selects(peer.namespaceSelector, { 'kubernetes.io/metadata.name': end.namespace });
  return inNamespace && selects(peer.podSelector ?? {}, end.labels);
}

function carries(allowed: PolicyPort, protocol: Protocol, port: number): boolean {
  if ((allowed.protocol ?? 'TCP') !== protocol) return false;
  if (allowed.port === undefined) return true;
  return typeof allowed.port === 'number' && port >= allowed.port && port <= (allowed.endPort ?? allowed.port);
}

function selects({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === 'Exists') return value !== undefined;
      if (operator === 'DoesNotExist') return value === undefined;
      if (operator === 'In') return value !== undefined && values.includes(value);
      if (operator === 'NotIn') return value === undefined || !values.includes(value);
      throw new Error(`a selector has the operator ${operator}, which Kubernetes does not know`);
    })
  );
}

const lists = new Map<string, BlockList>();
/** An IPv4-mapped address counts as its IPv4 address, which is where the kernel sends it: no range of IPv6 holds it. */
export function contains(cidr: string, ip: string): boolean {
  const [base = '', prefix] = cidr.split('/');
  const plain = unmapped(ip);
  if (isIPv4(base) !== isIPv4(plain)) return false;
  let list = lists.get(cidr);
  if (list === undefined) {
    list = new BlockList();
    list.addSubnet(base, Number(prefix), isIPv4(base) ? 'ipv4' : 'ipv6');
    lists.set(cidr, list);
  }
  return list.check(plain, isIPv4(plain) ? 'ipv4' : 'ipv6');
}

function unmapped(ip: string): string {
  if (isIPv4(ip)) return ip;
  const { address } = new SocketAddress({ address: ip, family: 'ipv6' });
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1] ?? ip;
}
