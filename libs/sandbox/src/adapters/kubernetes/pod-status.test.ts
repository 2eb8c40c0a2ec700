import { describe, expect, it } from '@jest/globals';
import { carryEnds, type NodeView, readNode, readPod } from './cluster-objects.js';
import { observationOf } from './pod-status.js';

const agentImage = 'slipway.local/sandbox@sha256:0';
const running = { running: { startedAt: '2026-11-21T22:22:30Z' } };
const sigkill = { exitCode: 137, reason: 'Error', finishedAt: '2026-11-21T22:23:00Z' };

/** A pod as the API server writes it, of Kubernetes 1.36, with what a case changes. */
function pod({
  agent = running as object,
  tools = { state: running } as object,
  status = {},
  metadata = {},
  node = 'real-0' as string | null,
} = {}) {
  return readPod({
    metadata: {
      name: 'sb-x',
      uid: 'uid-x',
      resourceVersion: '200',
      labels: { 'slipway.dev/slot': 'x' },
      managedFields: [{ manager: 'kubelet' }],
      ...metadata,
    },
    spec: {
      ...(node === null ? {} : { nodeName: node }),
      tolerations: [
        { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 },
      ],
    },
    status: {
      phase: 'Running',
      podIP: '10.1.2.3',
      conditions: [{ type: 'PodScheduled', status: 'True' }],
      containerStatuses: [{ name: 'agent-server', image: agentImage, restartCount: 0, state: agent, lastState: {} }],
      initContainerStatuses: [{ name: 'action-server', image: agentImage, restartCount: 0, lastState: {}, ...tools }],
      ...status,
    },
  });
}
const node = (change: { spec?: object; ready?: string; deletionTimestamp?: string } = {}): NodeView =>
  readNode({
    metadata: {
      name: 'real-0',
      uid: 'n',
      resourceVersion: '5',
      ...(change.deletionTimestamp === undefined ? {} : { deletionTimestamp: change.deletionTimestamp }),
    },
    spec: change.spec ?? {},
    status: {
      conditions: [{ type: 'Ready', status: change.ready ?? 'True', lastTransitionTime: '2026-11-21T22:00:00Z' }],
    },
  });
const seen = (view: ReturnType<typeof pod>, on: NodeView | 'unknown' | 'lost' = node()) =>
  observationOf(view, on, 8000);

describe('a pod as a sandbox', () => {
  it('runs at its address on its node', () => {
    const observation = {
      state: 'running',
      uid: 'uid-x',
      address: 'http://10.1.2.3:8000',
      restarts: { count: 0, reasons: [] },
      node: 'real-0',
    };
    expect(seen(pod())).toEqual(observation);
    expect(seen(pod(), 'unknown')).toEqual(observation);
    expect(seen(pod({ status: { podIP: 'fd00::7' } }))).toMatchObject({ address: 'http://[fd00::7]:8000' });
  });

  const waiting = (reason: string, message?: string) => ({
    waiting: { reason, ...(message === undefined ? {} : { message }) },
  });
  const notYet = { phase: 'Pending', podIP: undefined };
  for (const [what, view, expected] of [
    [
      'waits for a node',
      pod({ status: { ...notYet, conditions: [] }, node: null }),
      { message: 'it waits for a node' },
    ],
    [
      'tells why no node takes it',
      pod({
        status: {
          ...notYet,
          conditions: [
            {
              type: 'PodScheduled',
              status: 'False',
              reason: 'Unschedulable',
              message:
                '0/3 nodes are available: 3 Insufficient memory. no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found.',
            },
          ],
        },
      }),
      {
        problem: {
          code: 'sandbox.unschedulable',
          detail: 'No node takes the sandbox: 0/3 nodes are available: 3 Insufficient memory.',
        },
      },
    ],
    [
      'tells why its image is not there',
      pod({
        agent: waiting('PodInitializing'),
        tools: { state: waiting('ImagePullBackOff', 'Back-off pulling image "x": not found') },
        status: notYet,
      }),
      {
        problem: {
          code: 'sandbox.image-unavailable',
          detail: `The sandbox's image cannot be pulled: ImagePullBackOff: Back-off pulling image "x": not found`,
        },
      },
    ],
    [
      'tells that its image has no proper name',
      pod({ agent: waiting('InvalidImageName'), status: notYet }),
      {
        problem: {
          code: 'sandbox.image-unavailable',
          detail: "The sandbox's image cannot be pulled: InvalidImageName",
        },
      },
    ],
    [
      'tells why a container cannot be made',
      pod({ agent: waiting('CreateContainerConfigError', 'secret "s" not found'), status: notYet }),
      {
        problem: {
          code: 'sandbox.start-failed',
          detail: 'agent-server cannot be started: CreateContainerConfigError: secret "s" not found',
        },
      },
    ],
    [
      'tells that its tools keep ending before agent-server was begun',
      pod({
        agent: waiting('PodInitializing'),
        tools: {
          state: waiting('CrashLoopBackOff', 'back-off 10s'),
          restartCount: 2,
          lastState: { terminated: { exitCode: 1, reason: 'Error', message: 'no such module' } },
        },
        status: notYet,
      }),
      {
        problem: {
          code: 'sandbox.start-failed',
          detail:
            'action-server cannot be started: CrashLoopBackOff: back-off 10s; the last time it ended with code 1: no such module',
        },
      },
    ],
  ] as const)
    it(what, () => expect(seen(view)).toMatchObject({ state: 'pending', ...expected }));

  it('has no problem while its containers are being made', () => {
    expect(
      seen(pod({ agent: waiting('PodInitializing'), tools: { state: waiting('ContainerCreating') }, status: notYet })),
    ).toEqual({
      state: 'pending',
      message: 'its containers are made on real-0 (ContainerCreating)',
    });
  });

  for (const [view, reason, on] of [
    [pod({ agent: { terminated: sigkill } }), 'agent-server was killed (SIGKILL)'],
    [
      pod({ agent: { terminated: { ...sigkill, reason: 'OOMKilled' } } }),
      'agent-server ran out of memory and was killed (OOMKilled)',
    ],
    [
      pod({ agent: { terminated: { exitCode: 3, reason: 'Error', message: 'line\nno such wind' } } }),
      'agent-server ended with code 3: no such wind',
    ],
    [
      pod({ agent: { terminated: { exitCode: 128, reason: 'StartError', message: 'exec: "node": not found' } } }),
      'agent-server ended with code 128 (StartError): exec: "node": not found',
    ],
    [
      pod({
        status: {
          phase: 'Failed',
          reason: 'Evicted',
          message: 'The node was low on resource: memory.',
          containerStatuses: [],
        },
      }),
      'its node evicted it (Evicted: The node was low on resource: memory.)',
    ],
    [
      pod({ status: { phase: 'Failed', reason: 'NodeShutdown', message: 'Node is shutting down.' } }),
      'the cluster gave it up (NodeShutdown: Node is shutting down.)',
    ],
    [pod({ metadata: { deletionTimestamp: '2026-11-21T22:30:00Z' } }), 'it is being deleted'],
    [
      pod({
        metadata: { deletionTimestamp: '2026-11-21T22:30:00Z' },
        agent: { terminated: { ...sigkill, exitCode: 143 } },
      }),
      'its pod was deleted (agent-server was killed (SIGTERM))',
    ],
    [
      pod({
        metadata: { deletionTimestamp: '2026-11-21T22:30:00Z' },
        agent: { terminated: { ...sigkill, reason: 'OOMKilled' } },
      }),
      'agent-server ran out of memory and was killed (OOMKilled)',
    ],
    [pod(), 'its node real-0 is no longer in the cluster', 'lost'],
  ] as const)
    it(`has ended: ${reason}`, () =>
      expect(seen(view, on)).toEqual({ state: 'ended', uid: 'uid-x', reason: `the sandbox ended: ${reason}` }));

  const taint = (key: string, effect: string) => node({ spec: { taints: [{ key, effect }] } });
  for (const [on, avoid] of [
    [
      node({
        spec: { unschedulable: true, taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }] },
      }),
      'its node real-0 is cordoned',
    ],
    [node({ ready: 'Unknown' }), 'its node real-0 is not ready'],
    [node({ deletionTimestamp: 'now' }), 'its node real-0 is being deleted'],
    [taint('repair', 'NoExecute'), 'its node real-0 has the taint repair:NoExecute'],
    [taint('repair', 'PreferNoSchedule'), undefined],
    [taint('node.kubernetes.io/not-ready', 'NoExecute'), undefined],
    [node(), undefined],
  ] as const)
    it(avoid === undefined ? `is given out on ${JSON.stringify(on.taints)}` : `is not given out: ${avoid}`, () => {
      const observation = seen(pod(), on);
      expect(observation).toMatchObject({ state: 'running' });
      expect('avoid' in observation ? observation.avoid : undefined).toBe(avoid);
    });

  it('counts the ends of its tool process and remembers more of them than the cluster does', () => {
    const at = (minute: number, count: number, containerID = `containerd://${count}`, state: object = running) =>
      pod({
        tools: {
          state,
          restartCount: count,
          lastState: { terminated: { ...sigkill, finishedAt: `2026-11-21T22:${10 + minute}:00Z`, containerID } },
        },
      });
    // The second end is reported three times: as it ends, while it waits to be started again, and when it runs.
    const known = [at(1, 1), at(1, 1), at(2, 1, 'containerd://2', waiting('CrashLoopBackOff')), at(2, 2)].reduce(
      (before, after) => carryEnds(before, after),
    );
    const reasons = [1, 2].map((minute) => `2026-11-21T22:1${minute}:00Z action-server was killed (SIGKILL)`);
    expect(seen(known)).toMatchObject({ state: 'running', restarts: { count: 2, reasons } });
    const swift = [at(1, 1), at(1, 2)].reduce((before, after) => carryEnds(before, after));
    expect(seen(swift)).toMatchObject({ restarts: { count: 2, reasons: [reasons[0], reasons[0]] } });
    const many = Array.from({ length: 30 }, (_, index) => at(index, index + 1)).reduce((before, after) =>
      carryEnds(before, after),
    );
    expect(many.toolEnds.length).toBe(10);
  });

  it('is avoided while its tool process keeps ending', () => {
    const looping = {
      state: waiting('CrashLoopBackOff', 'back-off 40s'),
      restartCount: 4,
      lastState: { terminated: sigkill },
    };
    expect(seen(pod({ tools: looping }))).toMatchObject({
      state: 'running',
      avoid: expect.stringContaining('its tool process keeps ending'),
    });
  });
});
