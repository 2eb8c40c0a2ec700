import { SANDBOXES } from './contract-pod.ts';
import type { End, Protocol } from './network-policy-semantics.ts';

export const CLASSES = ['none', 'packages', 'allow-list', 'open'] as const;
export type EgressClass = (typeof CLASSES)[number];

/**
 * Every range that is not for the internet, from IANA's two registries of special-purpose addresses and what clouds
 * have put elsewhere. Written apart from the manifests, which name fewer for IPv6: they begin at 2000::/3.
 */
export const NOT_PUBLIC = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // All outside of 2000::/3; IPv4-mapped ones count as IPv4.
  '::/3',
  '4000::/2',
  '8000::/1',
  // Of these, what leads somewhere: loopback and the like, NAT64, ULA, link-local, site-local, multicast.
  '::/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
  // Inside: Teredo and other protocols, documentation, 6to4.
  '2001::/23',
  '2001:db8::/32',
  '3fff::/20',
  '2002::/16',
];

const inPlatform = (component: string, ip = '10.244.1.1'): End => ({
  namespace: 'slipway',
  labels: { 'app.kubernetes.io/component': component },
  ip,
});
const inCluster = (namespace: string, labels: Record<string, string>, ip = '10.244.2.2'): End => ({
  namespace,
  labels,
  ip,
});

interface Destination {
  readonly name: string;
  readonly to: End;
  readonly protocol?: Protocol;
  readonly port: number;
  readonly reachableBy: readonly EgressClass[];
}
const nobody = (name: string, to: End, port: number, protocol: Protocol = 'TCP'): Destination => ({
  name,
  to,
  port,
  protocol,
  reachableBy: [],
});
const address = (name: string, ip: string, port: number, protocol: Protocol = 'TCP'): Destination =>
  nobody(`${name}, ${ip}`, { ip }, port, protocol);

export const DESTINATIONS: readonly Destination[] = [
  { name: 'llm-gateway', to: inPlatform('llm-gateway'), port: 3003, reachableBy: CLASSES },
  { name: 'event ingest', to: inPlatform('app-server'), port: 3000, reachableBy: CLASSES },
  {
    name: 'the cluster’s DNS',
    to: inCluster('kube-system', { 'k8s-app': 'kube-dns' }),
    port: 53,
    protocol: 'UDP',
    reachableBy: ['open'],
  },
  {
    name: 'the cluster’s DNS over TCP',
    to: inCluster('kube-system', { 'k8s-app': 'kube-dns' }),
    port: 53,
    reachableBy: ['open'],
  },
  { name: 'egress-proxy', to: inPlatform('egress-proxy'), port: 3128, reachableBy: ['packages', 'allow-list'] },
  { name: 'a public address', to: { ip: '140.82.121.4' }, port: 443, reachableBy: ['open'] },
  { name: 'a public address by ssh', to: { ip: '140.82.121.4' }, port: 22, reachableBy: ['open'] },
  { name: 'a public IPv6 address', to: { ip: '2606:50c0:8000::153' }, port: 443, reachableBy: ['open'] },
  { name: 'a public address in its IPv6 form', to: { ip: '::ffff:140.82.121.4' }, port: 443, reachableBy: ['open'] },

  nobody('the metrics of llm-gateway', inPlatform('llm-gateway'), 9464),
  nobody('the metrics of app-server', inPlatform('app-server'), 9464),
  nobody('llm-gateway over UDP', inPlatform('llm-gateway'), 3003, 'UDP'),
  nobody('the health of egress-proxy', inPlatform('egress-proxy'), 3007),
  nobody('runtime-api', inPlatform('runtime-api'), 3002),
  nobody('worker', inPlatform('worker'), 3001),
  nobody('sandbox-gateway', inPlatform('sandbox-gateway'), 8080),
  nobody('the identity provider', inPlatform('keycloak'), 8080),
  nobody('Postgres', inPlatform('postgres'), 5432),
  nobody('Postgres in a namespace of its own', inCluster('databases', { app: 'postgres' }), 5432),
  nobody('Redis', inPlatform('redis'), 6379),
  nobody(
    'something that calls itself llm-gateway elsewhere',
    inCluster('default', { 'app.kubernetes.io/component': 'llm-gateway' }),
    3003,
  ),
  nobody('something that calls itself DNS elsewhere', inCluster('default', { 'k8s-app': 'kube-dns' }), 53, 'UDP'),
  nobody('DNS pods on another port', inCluster('kube-system', { 'k8s-app': 'kube-dns' }), 9153),
  nobody('another pod of kube-system', inCluster('kube-system', { 'k8s-app': 'metrics-server' }), 53, 'UDP'),
  nobody('a pod with a public address', inCluster('default', { app: 'x' }, '2001:db8:1::5'), 443),
  nobody('another sandbox', inCluster(SANDBOXES, { 'slipway.dev/egress': 'open' }), 8000),
  nobody('the tools of another sandbox', inCluster(SANDBOXES, { 'slipway.dev/egress': 'open' }), 8001),
  nobody(
    'another sandbox by a public address',
    inCluster(SANDBOXES, { 'slipway.dev/egress': 'open' }, '2001:db8:1::7'),
    8000,
  ),

  address('the metadata service', '169.254.169.254', 80),
  address('the metadata service', 'fd00:ec2::254', 80),
  address('Google’s metadata service', 'fd20:ce::254', 80),
  address('Alibaba’s metadata service', '100.100.100.200', 80),
  address('Oracle’s metadata service', '192.0.0.192', 80),
  address('Azure’s host agent', '168.63.129.16', 80),
  address('the metadata service in its IPv6 form', '::ffff:169.254.169.254', 80),
  address('the metadata service in hexadecimal', '::ffff:a9fe:a9fe', 80),
  address('the metadata service by NAT64', '64:ff9b::a9fe:a9fe', 80),
  address('the metadata service by 6to4', '2002:a9fe:a9fe::1', 80),
  address('node-local DNS', '169.254.20.10', 53, 'UDP'),
  address('the kubelet of a node', '10.1.2.3', 10_250),
  address('a node port', '192.168.1.10', 30_080),
  address('the API server by its service', '10.96.0.1', 443),
  address('the API server by its node', '172.16.0.10', 6443),
  address('a node behind CGNAT', '100.64.3.4', 10_250),
  address('loopback', '127.0.0.1', 8001),
  address('loopback', '::1', 8001),
  address('this host', '0.0.0.0', 22),
  address('a private IPv6 address', 'fd12:3456::1', 443),
  address('a neighbour on the link', 'fe80::1', 443),
  address('multicast', '224.0.0.251', 5353, 'UDP'),
  address('multicast', 'ff02::fb', 5353, 'UDP'),
  address('broadcast', '255.255.255.255', 67, 'UDP'),
  address('QUIC', '140.82.121.4', 443, 'UDP'),
  address('a resolver of the internet', '1.1.1.1', 53, 'UDP'),
  address('SCTP', '140.82.121.4', 443, 'SCTP'),
];

interface Source {
  readonly name: string;
  readonly from: End;
  readonly port?: number;
  readonly protocol?: Protocol;
  readonly mayCall: boolean;
}
export const SOURCES: readonly Source[] = [
  { name: 'sandbox-gateway', from: inPlatform('sandbox-gateway'), mayCall: true },
  { name: 'runtime-api, which activates it,', from: inPlatform('runtime-api'), mayCall: true },
  // Both leave this list when sandbox-gateway calls for them.
  { name: 'app-server', from: inPlatform('app-server'), mayCall: true },
  { name: 'worker', from: inPlatform('worker'), mayCall: true },
  { name: 'sandbox-gateway on the port of the tools', from: inPlatform('sandbox-gateway'), port: 8001, mayCall: false },
  { name: 'sandbox-gateway on the port of an app', from: inPlatform('sandbox-gateway'), port: 3000, mayCall: true },
  { name: 'sandbox-gateway on a port of the machine', from: inPlatform('sandbox-gateway'), port: 22, mayCall: false },
  { name: 'app-server on the port of an app', from: inPlatform('app-server'), port: 3000, mayCall: false },
  { name: 'sandbox-gateway over UDP', from: inPlatform('sandbox-gateway'), protocol: 'UDP', mayCall: false },
  { name: 'llm-gateway', from: inPlatform('llm-gateway'), mayCall: false },
  { name: 'egress-proxy', from: inPlatform('egress-proxy'), mayCall: false },
  { name: 'web', from: inPlatform('web'), mayCall: false },
  {
    name: 'a pod of another namespace that calls itself sandbox-gateway',
    from: inCluster('default', { 'app.kubernetes.io/component': 'sandbox-gateway' }),
    mayCall: false,
  },
  {
    name: 'a sandbox that calls itself sandbox-gateway',
    from: inCluster(SANDBOXES, { 'app.kubernetes.io/component': 'sandbox-gateway', 'slipway.dev/egress': 'open' }),
    mayCall: false,
  },
  { name: 'a pod of kube-system', from: inCluster('kube-system', { 'k8s-app': 'kube-dns' }), mayCall: false },
  { name: 'the internet', from: { ip: '140.82.121.4' }, mayCall: false },
  { name: 'a private address', from: { ip: '10.1.2.3' }, mayCall: false },
];
