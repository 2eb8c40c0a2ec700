import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '@slipway/telemetry';
import { until } from '@slipway/testing';
import { ClusterPods } from './cluster-pods.js';
import { KubeApi } from './kube-api.js';
import { fastTiming, TestApiServer } from './test-api-server.js';

/** A second takes 20 ms. */
const SPEED = 50;
const POD = {
  spec: { nodeName: 'one' },
  status: {
    phase: 'Running',
    podIP: '10.0.0.1',
    containerStatuses: [{ name: 'agent-server', state: { running: {} } }],
  },
};
const nodeThatIs = (status: 'True' | 'False' | 'Unknown'): object => ({
  metadata: { name: 'one', uid: 'node-one', resourceVersion: status === 'True' ? '1' : '90' },
  spec: { taints: status === 'True' ? [] : [{ key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' }] },
  status: { conditions: [{ type: 'Ready', status }] },
});

describe('pods of a node that the cluster does not hear', () => {
  let server: TestApiServer;
  let api: KubeApi;
  let pods: ClusterPods | undefined;
  beforeEach(async () => {
    server = await new TestApiServer().start();
    server.put('sb-1', POD);
  });
  afterEach(async () => {
    await pods?.close();
    api.close();
    await server.close();
  });

  const begin = (): ClusterPods => {
    const timing = fastTiming(SPEED);
    const budget = { rate: 1_000, burst: 1_000, connections: 6 };
    api = new KubeApi(
      { server: new URL(server.url), credentials: async () => ({ tls: {}, authorization: null }) },
      timing,
      {
        claim: budget,
        refill: budget,
        watch: budget,
      },
    );
    pods = new ClusterPods(api, 'sandboxes', timing, createLogger('test', 'silent'));
    return pods;
  };
  const seenOf = (of: ClusterPods): ReturnType<ClusterPods['observe']> | null => {
    const pod = of.get('sb-1');
    return pod === undefined || !of.health.synced ? null : of.observe(pod);
  };

  it('are avoided, unless their silence came because the API server was away; then only when the node stays silent', async () => {
    server.nodes = [nodeThatIs('Unknown')];
    // Away from the beginning, for longer than a watch takes to begin again.
    server.faults.refuse = ({ isList }) => (isList ? { status: 503, body: { message: 'away' } } : null);
    const opened = begin();
    const began = performance.now();
    await until('the outage is one', () => performance.now() - began > 12_000 / SPEED);
    server.faults.refuse = () => null;
    expect(await until('it is seen', () => seenOf(opened))).not.toHaveProperty('avoid');
    await until(
      'it was silent for too long',
      () => (seenOf(opened) as { avoid?: string }).avoid === 'its node one is not ready',
      120_000 / SPEED,
    );
  });

  it('are not avoided after the API server stood still with its connections open, as one call without an answer shows', async () => {
    server.nodes = [nodeThatIs('Unknown')];
    server.faults.listDelayMs = 6_000 / SPEED;
    const opened = begin();
    expect(await until('it is seen', () => seenOf(opened))).not.toHaveProperty('avoid');
    await until(
      'it was silent for too long',
      () => (seenOf(opened) as { avoid?: string }).avoid === 'its node one is not ready',
      120_000 / SPEED,
    );
  });

  it('are avoided at once when there was no outage', async () => {
    server.nodes = [nodeThatIs('Unknown')];
    const opened = begin();
    expect(await until('it is seen', () => seenOf(opened))).toMatchObject({ avoid: 'its node one is not ready' });
  });

  it('are avoided at once after an outage when the node itself says that it is not ready', async () => {
    server.nodes = [nodeThatIs('False')];
    server.faults.refuse = ({ isList }) => (isList ? { status: 503, body: { message: 'away' } } : null);
    const opened = begin();
    const began = performance.now();
    await until('the outage is one', () => performance.now() - began > 12_000 / SPEED);
    server.faults.refuse = () => null;
    expect(await until('it is seen', () => seenOf(opened))).toMatchObject({ avoid: 'its node one is not ready' });
  });
});
