import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { ECHO_IMAGE, echoArchive, missingForBuiltCluster } from '@slipway/testing/cluster';
import { describeUnless } from '@slipway/testing/jest';
import { type PodBody, RUNTIME_API, SANDBOXES } from './contract-pod.ts';
import { type BackendCluster, openBackendCluster } from './open-backend.ts';
import { newSlot, podsOf } from './platform-cluster.ts';

/** One question of names-probe.py. */
interface Asked {
  readonly found: string;
  readonly code: string;
  readonly seconds: number;
}
interface Findings {
  readonly asked: Readonly<Record<string, Readonly<Record<'getent' | 'lookup' | 'resolve', Asked>>>>;
  readonly called: Asked;
  readonly resolver: string;
}

const PROBE = readFileSync(path.join(import.meta.dirname, 'names-probe.py'), 'utf8');
const POD_MS = 90_000;
/** The cluster's DNS knows it in this cluster: it stands for the world. */
const WORLD = 'example.com';
const API_SERVER = 'kubernetes.default.svc.cluster.local';
const SERVICE = 'door.default.svc.cluster.local';
const MANIFESTS = [
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'echo', labels: { app: 'echo' } },
    spec: {
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'echo', image: ECHO_IMAGE, imagePullPolicy: 'Never' }],
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'door' },
    spec: { selector: { app: 'echo' }, ports: [{ port: 80, targetPort: 8080 }] },
  },
];

const missing = await missingForBuiltCluster();

describeUnless(missing)('names in a sandbox', () => {
  let opened: BackendCluster;
  let address: string;
  beforeAll(async () => {
    opened = await openBackendCluster({ kubeProxy: true, dns: true, hostNames: [WORLD] });
    const { cluster } = opened.platform;
    await cluster.importImage(await echoArchive());
    await cluster.kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: MANIFESTS }));
    address = await cluster.kubectl(['get', 'service', 'door', '-o', 'jsonpath={.spec.clusterIP}']);
    await cluster.kubectl(['wait', '--for=condition=Ready', 'pod/echo', `--timeout=${POD_MS / 1_000}s`]);
  });
  afterAll(() => opened?.close());

  /** What the probe finds in a pod that KubernetesBackend made, but for its program. */
  async function found(egress: 'none' | 'packages' | 'open', dns: 'none' | 'cluster'): Promise<Findings> {
    const { api } = opened.platform;
    const template = { ...opened.template, egress };
    const backend = await opened.open({ templates: [template], names: { dns, hosts: [{ name: SERVICE, address }] } });
    const made = newSlot();
    const signal = AbortSignal.timeout(POD_MS);
    await backend.ensure({ name: `sb-${made}`, slotId: made, image: template.name }, signal);
    const { metadata, spec } = (await api.ask<PodBody>(`${podsOf(SANDBOXES)}/sb-${made}`)).body;
    await api.ask(`${podsOf(SANDBOXES)}/sb-${made}?gracePeriodSeconds=0`, { method: 'DELETE', as: RUNTIME_API });
    const slot = newSlot();
    const { nodeName: _, ...unplaced } = structuredClone(spec);
    Object.assign(unplaced.containers[0], { command: ['python3', '-c', PROBE, `${WORLD},${API_SERVER}`, SERVICE] });
    const body = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `sb-${slot}`,
        namespace: SANDBOXES,
        labels: { ...metadata.labels, 'slipway.dev/slot': slot },
        annotations: metadata.annotations,
      },
      spec: unplaced,
    };
    const { status, body: said } = await api.ask(podsOf(SANDBOXES), { method: 'POST', as: RUNTIME_API, body });
    expect([status, said.message]).toEqual([201, undefined]);
    try {
      return await until(
        'the probe has its findings',
        async () => {
          const { status, body } = await api.ask<Findings | { message: string }>(
            `${podsOf(SANDBOXES)}/sb-${slot}/log?container=agent-server`,
          );
          return status === 200 && 'asked' in body ? body : null;
        },
        POD_MS,
      );
    } finally {
      await api.ask(`${podsOf(SANDBOXES)}/sb-${slot}?gracePeriodSeconds=0`, { method: 'DELETE', as: RUNTIME_API });
    }
  }

  for (const egress of ['none', 'packages'] as const)
    it(`of the world and of the cluster are not found in class ${egress}, at once, and the platform's own are there`, async () => {
      const { asked, called, resolver } = await found(egress, 'none');
      expect(resolver).toContain('nameserver 127.0.0.1\n');
      for (const [name, answers] of Object.entries(asked))
        for (const [way, { found: address, seconds }] of Object.entries(answers)) {
          expect([name, way, address]).toEqual([name, way, '']);
          expect([name, way, seconds, seconds < 1]).toEqual([name, way, seconds, true]);
        }
      expect(Object.keys(asked)).toEqual([WORLD, API_SERVER]);
      expect(called.found).toBe(`echo at ${SERVICE}`);
    });

  for (const [egress, dns] of [
    ['open', 'none'],
    ['none', 'cluster'],
  ] as const)
    it(`are those of the cluster's DNS in class ${egress} with SANDBOX_DNS=${dns}`, async () => {
      const { asked, called } = await found(egress, dns);
      for (const answers of Object.values(asked))
        for (const { found: address } of Object.values(answers)) expect(address).toMatch(/^\d+(\.\d+){3}$/);
      expect(called.found).toBe(`echo at ${SERVICE}`);
    });
});
