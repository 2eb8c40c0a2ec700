import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { stopwatch, until } from '@slipway/testing';
import { missingForTestCluster } from '@slipway/testing/cluster';
import { describeUnless } from '@slipway/testing/jest';
import { type PodBody, RUNTIME_API, SANDBOXES } from './contract-pod.ts';
import type { KubeApi } from './kube-api.ts';
import { describeReach } from './network-reach.ts';
import { type BackendCluster, openBackendCluster } from './open-backend.ts';
import { newSlot, podsOf } from './platform-cluster.ts';

/** What escape-probe.py says of one container. */
interface Findings {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  readonly status: Readonly<Record<string, string>>;
  readonly environment: readonly string[];
  readonly clusterSecrets: readonly string[];
  readonly writable: readonly string[];
  readonly setgidIsSet: boolean;
  readonly groupsOfSetgid: readonly number[];
  readonly processes: readonly (readonly [string, string])[];
  readonly uidMap: readonly number[];
  readonly state: readonly string[];
  readonly temporary: readonly string[];
  readonly blockDevices: readonly string[];
  readonly attempts: Readonly<Record<string, string>>;
}
interface Pod extends PodBody {
  readonly status: {
    readonly phase: string;
    readonly reason?: string;
    readonly message?: string;
    readonly podIP?: string;
    readonly initContainerStatuses?: readonly {
      readonly restartCount: number;
      readonly lastState: { readonly terminated?: { readonly reason: string } };
    }[];
  };
}

const PROBE = readFileSync(path.join(import.meta.dirname, 'escape-probe.py'), 'utf8');
const POD_MS = 60_000;
/** The kubelet measures volumes once a minute, and reads the figures every ten seconds. */
const EVICTION_MS = 150_000;
const missing = await missingForTestCluster();

describeUnless(missing)('in a sandbox', () => {
  let opened: BackendCluster;
  let api: KubeApi;
  /**
   * A sandbox as KubernetesBackend made it: its own programs run in it, and it is the neighbour of all that follows.
   */
  let neighbour: Pod;
  const pod = async (name: string): Promise<Pod> => (await api.ask<Pod>(`${podsOf(SANDBOXES)}/${name}`)).body;

  beforeAll(async () => {
    opened = await openBackendCluster();
    api = opened.platform.api;
    const backend = await opened.open();
    const slot = newSlot();
    const signal = AbortSignal.timeout(POD_MS);
    await backend.ensure({ name: `sb-${slot}`, slotId: slot, image: 'any' }, signal);
    await until(
      'the sandbox runs',
      async () => (await backend.observe(`sb-${slot}`, signal)).state === 'running',
      POD_MS,
    );
    neighbour = await pod(`sb-${slot}`);
  });
  afterAll(() => opened?.close());

  /** A pod like the neighbour in everything but the programs. */
  async function start(
    agentServer: readonly string[],
    actionServer: readonly string[],
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<string> {
    const slot = newSlot();
    const { labels, annotations } = neighbour.metadata;
    const { nodeName, ...spec } = structuredClone(neighbour.spec);
    expect(nodeName).toBeDefined();
    const [main] = spec.containers;
    const [sidecar] = spec.initContainers;
    Object.assign(main, { command: agentServer });
    Object.assign(sidecar, { command: actionServer });
    const body: PodBody = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `sb-${slot}`,
        namespace: SANDBOXES,
        labels: { ...labels, 'slipway.dev/slot': slot },
        annotations,
      },
      spec: { ...spec, ...more },
    };
    const { status, body: said } = await api.ask(podsOf(SANDBOXES), { method: 'POST', as: RUNTIME_API, body });
    expect([status, said.message]).toEqual([201, undefined]);
    return `sb-${slot}`;
  }
  const end = (name: string): Promise<unknown> =>
    api.ask(`${podsOf(SANDBOXES)}/${name}?gracePeriodSeconds=0`, { method: 'DELETE', as: RUNTIME_API });

  /** The first line that a container wrote, which is JSON. */
  function said<T extends object>(name: string, container: string): Promise<T> {
    return until(
      `${container} of ${name} says something`,
      async () => {
        const { status, body } = await api.ask<T | { message: string }>(
          `${podsOf(SANDBOXES)}/${name}/log?container=${container}`,
        );
        return status === 200 && !('message' in body) ? (body as T) : null;
      },
      POD_MS,
    );
  }
  const probe = (role: string): string[] => ['python3', '-c', PROBE, role];

  for (const userNamespace of [false, true]) {
    describe(userNamespace ? 'with a user namespace, a process' : 'a process', () => {
      let name: string;
      const found = new Map<string, Findings>();
      const both = (): readonly (readonly [string, Findings])[] => [...found];
      beforeAll(async () => {
        name = await start(probe('agent-server'), probe('action-server'), {
          hostUsers: userNamespace ? false : undefined,
        });
        for (const container of ['agent-server', 'action-server'])
          found.set(container, await said<Findings>(name, container));
      });
      afterAll(() => end(name));

      it('has a user of its own in each container and the group of both', () => {
        expect(both().map(([container, { uid, gid, groups }]) => [container, uid, gid, groups])).toEqual([
          ['agent-server', 10_001, 10_000, [10_000]],
          ['action-server', 10_002, 10_000, [10_000]],
        ]);
      });

      it('has no capability, cannot gain one, and has its system calls filtered', () => {
        const none = '0000000000000000';
        for (const [, { status }] of both())
          expect(status).toEqual({
            CapInh: none,
            CapPrm: none,
            CapEff: none,
            CapBnd: none,
            CapAmb: none,
            NoNewPrivs: '1',
            Seccomp: '2',
          });
      });

      it('finds no token, no service of the cluster in its environment, and no disk of the node', () => {
        for (const [, { clusterSecrets, environment, blockDevices }] of both()) {
          expect(clusterSecrets).toEqual([]);
          // The one address that the kubelet gives to every container cannot be switched off; default-deny keeps it
          // from being of use.
          expect(
            environment.filter((key) => /_SERVICE_(HOST|PORT)|_PORT_\d+_/.test(key) && !key.startsWith('KUBERNETES_')),
          ).toEqual([]);
          expect(blockDevices).toEqual([]);
        }
      });

      it('can write to its volumes and nowhere else', () => {
        expect(found.get('agent-server')!.writable).toEqual([
          '/dev/mqueue',
          '/dev/shm',
          '/tmp',
          '/var/lib/slipway',
          '/workspace',
        ]);
        expect(found.get('action-server')!.writable).toEqual([
          '/dev/mqueue',
          '/dev/shm',
          '/home/agent',
          '/tmp',
          '/var/lib/slipway',
          '/workspace',
        ]);
      });

      it('keeps its group in a program that is marked to run with another', () => {
        for (const [, { setgidIsSet, groupsOfSetgid }] of both())
          expect([setgidIsSet, groupsOfSetgid]).toEqual([true, [10_000, 10_000, 10_000, 10_000]]);
      });

      it('sees the processes of its container only, and of the other’s files only the workspace', () => {
        for (const [container, { processes }] of both()) {
          expect(processes.map(([command]) => command)).toEqual(['python3']);
          expect(processes.map(([, pid]) => pid)).toEqual(['1']);
          expect([container, found.get('action-server')!.state, found.get('action-server')!.temporary]).toEqual([
            container,
            [],
            [],
          ]);
        }
        expect(found.get('agent-server')!.state).toEqual(['of-agent-server']);
      });

      it('gets nothing from the kernel that would lead out', () => {
        for (const [, { attempts }] of both()) {
          expect(Object.keys(attempts).length).toBeGreaterThan(25);
          // A kernel may not have what some of them ask for; an empty file covers the others.
          const absent = Object.entries(attempts).filter(
            ([, outcome]) => outcome === 'ENOENT' || outcome === 'ENODATA',
          );
          expect(['press a key on the node', 'read the node’s memory', 'read the node’s keys']).toEqual(
            expect.arrayContaining(absent.map(([attempt]) => attempt)),
          );
          expect(
            Object.entries(attempts).filter(
              ([, outcome]) => !['EPERM', 'EACCES', 'EROFS', 'ENOSYS', 'ENOENT', 'ENODATA'].includes(outcome),
            ),
          ).toEqual([]);
        }
      });

      it(userNamespace ? 'is the user nobody on the node' : 'has on the node the number that it has inside', () => {
        for (const [, { uidMap }] of both()) {
          const [inside, outside, count] = uidMap;
          expect([inside, count]).toEqual([0, userNamespace ? 65_536 : 4_294_967_295]);
          if (userNamespace) expect(outside).toBeGreaterThanOrEqual(65_536);
          else expect(outside).toBe(0);
        }
      });
    });
  }

  describeReach(() => ({ platform: opened.platform, image: neighbour.spec.containers[0]['image'], pull: 'Never' }));

  describe('a bomb', () => {
    const idle = ['sleep', '3600'];
    const neighbourAnswers = async (): Promise<void> => {
      const emergency = { as: 'admin', groups: ['system:masters', 'slipway:break-glass'] };
      const passed = stopwatch();
      const { status } = await api.ask(`${podsOf(SANDBOXES)}/${neighbour.metadata.name}:8000/proxy/alive`, emergency);
      expect(status).toBe(200);
      expect(passed()).toBeLessThan(5_000);
    };
    const restartsOf = async (name: string): Promise<number> =>
      (await pod(name)).status.initContainerStatuses?.[0]?.restartCount ?? 0;

    let bomber: Promise<string>;
    beforeAll(() => {
      // First, since the kubelet takes a minute to see it.
      bomber = start(idle, ['sh', '-c', 'head -c 300000000 /dev/zero > /tmp/bomb; exec sleep 3600'], {
        volumes: neighbour.spec.volumes.map((volume) => ({ ...volume, emptyDir: { sizeLimit: '64Mi' } })),
      });
      return bomber;
    });

    it('of processes stops at the node’s podPidsLimit, and the neighbour answers meanwhile', async () => {
      // Counts by itself to 8192: on a node without a limit the test fails and the node survives.
      const source = `
import errno, json, os, time
count, outcome = 0, "no limit"
while count < 8192:
    try:
        if os.fork() == 0: time.sleep(3600)
        count += 1
    except OSError as error:
        outcome = errno.errorcode[error.errno]
        break
print(json.dumps({"count": count, "outcome": outcome}), flush=True)
time.sleep(3600)`;
      const name = await start(idle, ['python3', '-c', source]);
      const { count, outcome } = await said<{ count: number; outcome: string }>(name, 'action-server');
      expect(outcome).toBe('EAGAIN');
      expect(count).toBeGreaterThan(100);
      await neighbourAnswers();
      await end(name);
    });

    it('of memory ends its own container, which starts again, and the neighbour has not noticed', async () => {
      const marker = randomBytes(4).toString('hex');
      const name = await start(idle, [
        'sh',
        '-c',
        `[ -e /workspace/${marker} ] && exec sleep 3600; touch /workspace/${marker}; exec python3 -c 'b = [bytearray(1 << 24) for _ in range(10000)]'`,
      ]);
      await until('the kernel has ended it', async () => (await restartsOf(name)) === 1, POD_MS);
      expect((await pod(name)).status.initContainerStatuses?.[0]?.lastState.terminated?.reason).toBe('OOMKilled');
      expect((await pod(name)).status.phase).toBe('Running');
      await neighbourAnswers();
      expect(await restartsOf(neighbour.metadata.name)).toBe(0);
      await end(name);
    });

    it('of files is evicted, and the neighbour stays', async () => {
      const name = await bomber;
      const ended = await until(
        'it is evicted',
        async () => ((one) => (one.status.phase === 'Failed' ? one : null))(await pod(name)),
        EVICTION_MS,
      );
      expect([ended.status.reason, ended.status.message]).toEqual([
        'Evicted',
        expect.stringMatching(/exceeds the limit|exceeded its local ephemeral storage|usage of emptyDir/i),
      ]);
      await neighbourAnswers();
      await end(name);
    });
  });
});
