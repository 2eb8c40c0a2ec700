import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { missingForTestCluster } from '@slipway/testing/cluster';
import { describeUnless } from '@slipway/testing/jest';
import fc from 'fast-check';
import { SANDBOXES } from './contract-pod.ts';
import { CLASSES, DESTINATIONS, type EgressClass, NOT_PUBLIC, SOURCES } from './network-cases.ts';
import { contains, isAllowed, type NetworkPolicy, type PodEnd, type Protocol } from './network-policy-semantics.ts';
import { openPlatformCluster, type PlatformCluster } from './platform-cluster.ts';

const PROTOCOLS: readonly Protocol[] = ['TCP', 'UDP', 'SCTP'];
/** As runtime-api makes it by default: without DNS, but for class `open`. */
const sandbox = (egress: EgressClass): PodEnd => {
  const labels = { 'app.kubernetes.io/name': 'slipway-sandbox', 'slipway.dev/egress': egress };
  return {
    namespace: SANDBOXES,
    labels: egress === 'open' ? labels : { ...labels, 'slipway.dev/dns': 'none' },
    ip: '10.244.7.7',
  };
};

const missing = await missingForTestCluster();

/**
 * What the policies say, as the API server holds them. That a node's network plugin does what they say is not shown
 * here: the plugin of the test cluster enforces none (docs/isolation.md, "Checking a cluster of your own").
 */
jest.setTimeout(120_000);

describeUnless(missing)('the network policies', () => {
  let platform: PlatformCluster;
  let policies: readonly NetworkPolicy[];
  beforeAll(async () => {
    platform = await openPlatformCluster({ realNode: false });
    const { body } = await platform.api.ask<{ items: NetworkPolicy[] }>(
      `/apis/networking.k8s.io/v1/namespaces/${SANDBOXES}/networkpolicies`,
    );
    policies = body.items;
    expect(policies.length).toBeGreaterThanOrEqual(6);
  });
  afterAll(() => platform?.close());

  for (const egress of CLASSES)
    for (const { name, to, protocol = 'TCP', port, reachableBy } of DESTINATIONS)
      it(`let a sandbox of class ${egress} ${reachableBy.includes(egress) ? 'reach' : 'not reach'} ${name}`, () => {
        expect(isAllowed(policies, sandbox(egress), to, protocol, port)).toBe(reachableBy.includes(egress));
      });

  for (const { name, from, port = 8000, protocol = 'TCP', mayCall } of SOURCES)
    it(`let ${name} ${mayCall ? '' : 'not '}call a sandbox`, () => {
      for (const egress of CLASSES) expect(isAllowed(policies, from, sandbox(egress), protocol, port)).toBe(mayCall);
    });

  it("let a sandbox that was made with the cluster's DNS reach it for its lifetime, and nothing else by that", () => {
    for (const egress of CLASSES) {
      const made = { namespace: SANDBOXES, labels: { 'slipway.dev/egress': egress }, ip: '10.244.7.7' };
      for (const { name, to, protocol = 'TCP', port, reachableBy } of DESTINATIONS) {
        const isDns = name.startsWith('the cluster’s DNS');
        expect([name, egress, isAllowed(policies, made, to, protocol, port)]).toEqual([
          name,
          egress,
          isDns || reachableBy.includes(egress),
        ]);
      }
    }
  });

  it('let no class reach an address that is not public, on any port, over any protocol', () => {
    for (const range of NOT_PUBLIC)
      fc.assert(
        fc.property(
          addressIn(range),
          fc.constantFrom(...CLASSES),
          fc.constantFrom(...PROTOCOLS),
          fc.integer({ min: 1, max: 65_535 }),
          (ip, egress, protocol, port) => {
            expect([range, ip, egress, isAllowed(policies, sandbox(egress), { ip }, protocol, port)]).toEqual([
              range,
              ip,
              egress,
              false,
            ]);
          },
        ),
        { numRuns: 150 },
      );
  });

  it('let class open reach every public address over TCP, and no other class any', () => {
    const anywhere = fc.oneof(addressIn('0.0.0.0/0'), addressIn('2000::/3'), addressIn('::/0'));
    let reached = 0;
    fc.assert(
      fc.property(anywhere, fc.integer({ min: 1, max: 65_535 }), (ip, port) => {
        const isPublic = !NOT_PUBLIC.some((range) => contains(range, ip));
        if (isPublic) reached += 1;
        for (const egress of CLASSES)
          expect([ip, egress, isAllowed(policies, sandbox(egress), { ip }, 'TCP', port)]).toEqual([
            ip,
            egress,
            isPublic && egress === 'open',
          ]);
        for (const protocol of ['UDP', 'SCTP'] as const)
          expect([ip, isAllowed(policies, sandbox('open'), { ip }, protocol, port)]).toEqual([ip, false]);
      }),
      { numRuns: 3_000 },
    );
    expect(reached).toBeGreaterThan(500);
  });

  it('let no sandbox reach another one, whatever the two are labelled', () => {
    const labels = fc.dictionary(
      fc.constantFrom('app.kubernetes.io/component', 'k8s-app', 'slipway.dev/egress', 'app.kubernetes.io/name'),
      fc.constantFrom(
        'llm-gateway',
        'app-server',
        'kube-dns',
        'egress-proxy',
        'sandbox-gateway',
        'open',
        'slipway-sandbox',
      ),
    );
    fc.assert(
      fc.property(
        labels,
        labels,
        fc.constantFrom(...PROTOCOLS),
        fc.constantFrom(53, 80, 443, 3000, 3003, 3128, 8000, 8001),
        (mine, theirs, protocol, port) => {
          const from = { namespace: SANDBOXES, labels: mine, ip: '10.244.7.7' };
          expect(
            isAllowed(policies, from, { namespace: SANDBOXES, labels: theirs, ip: '10.244.8.8' }, protocol, port),
          ).toBe(false);
        },
      ),
    );
  });

  it('give a pod without our labels nothing at all, in or out', () => {
    const nobody: PodEnd = { namespace: SANDBOXES, labels: {}, ip: '10.244.7.7' };
    for (const { to, protocol = 'TCP', port } of DESTINATIONS)
      expect(isAllowed(policies, nobody, to, protocol, port)).toBe(false);
    for (const { from, port = 8000, protocol = 'TCP' } of SOURCES)
      expect(isAllowed(policies, from, nobody, protocol, port)).toBe(false);
  });

  it('begin their exceptions with the ranges of pods, services and nodes, which an overlay replaces', () => {
    const open = policies.find(({ metadata }) => metadata.name === 'sandbox-egress-open')!;
    const [v4, v6] = open.spec.egress?.[0]?.to?.map(({ ipBlock }) => ipBlock?.except?.slice(0, 3)) ?? [];
    expect([v4, v6]).toEqual([
      ['10.244.0.0/16', '10.96.0.0/12', '10.0.0.0/8'],
      ['2001:db8:1::/48', '2001:db8:2::/48', '2001:db8:3::/48'],
    ]);
  });
});

/** Any address of the range; its first and last ones come up often. */
function addressIn(range: string): fc.Arbitrary<string> {
  const [base = '', prefix] = range.split('/');
  const bits = base.includes(':') ? 128 : 32;
  const free = BigInt(bits - Number(prefix));
  return fc
    .bigInt({ min: 0n, max: (1n << free) - 1n })
    .map((offset) => formatAddress(parseAddress(base) + offset, bits));
}

function parseAddress(address: string): bigint {
  if (!address.includes(':')) return address.split('.').reduce((sum, part) => (sum << 8n) + BigInt(part), 0n);
  const [left = '', right = ''] = address.split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const zeros = Array<string>(8 - groups(left).length - groups(right).length).fill('0');
  const all = address.includes('::') ? [...groups(left), ...zeros, ...groups(right)] : groups(address);
  return all.reduce((sum, group) => (sum << 16n) + BigInt(`0x${group}`), 0n);
}

function formatAddress(value: bigint, bits: number): string {
  const size = bits === 32 ? 8 : 16;
  const parts = Array.from(
    { length: bits / size },
    (_, index) => (value >> BigInt(bits - size * (index + 1))) & ((1n << BigInt(size)) - 1n),
  );
  return bits === 32 ? parts.join('.') : parts.map((part) => part.toString(16)).join(':');
}
