import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { SandboxObservation } from '@slipway/sandbox';
import { fromKubeconfig, type KubernetesBackend } from '@slipway/sandbox/adapters/kubernetes';
import { until } from '@slipway/testing';
import { missingForBuiltCluster } from '@slipway/testing/cluster';
import { describeUnless } from '@slipway/testing/jest';
import { SANDBOXES } from './contract-pod.ts';
import { type BackendCluster, openBackendCluster, writeKubeconfig } from './open-backend.ts';

/** The controller's patience with a silent kubelet, shortened. Seconds. */
const NODE_GRACE_SECONDS = 16;
const missing = await missingForBuiltCluster();

describeUnless(missing)('what the cluster says of a sandbox', () => {
  const signal = AbortSignal.timeout(600_000);
  let opened: BackendCluster;
  let backend: KubernetesBackend;
  let kubectl: (args: readonly string[]) => Promise<string>;
  beforeAll(async () => {
    opened = await openBackendCluster({ nodeGraceSeconds: NODE_GRACE_SECONDS });
    const { template } = opened;
    const tiny = { cpu: '50m', memory: '24Mi', ephemeralStorage: '64Mi' };
    const noDisk = { cpu: '50m', memory: '128Mi', ephemeralStorage: '1k' };
    backend = await opened.open({
      templates: [
        template,
        { ...template, name: 'nowhere', nodeSelector: { place: 'nowhere' } },
        {
          ...template,
          name: 'no-image',
          image: `registry.invalid/sandbox@sha256:${'0'.repeat(64)}`,
          imagePullPolicy: 'IfNotPresent',
        },
        { ...template, name: 'no-class', runtimeClassName: 'no-such-class' },
        { ...template, name: 'starved', agentServerResources: { requests: tiny, limits: tiny } },
        {
          ...template,
          name: 'no-disk',
          agentServerResources: { requests: noDisk, limits: { ...noDisk, memory: '512Mi', cpu: '1' } },
        },
      ],
    });
    kubectl = (args) => opened.platform.cluster.kubectl(['-n', SANDBOXES, ...args]);
  });
  afterAll(() => opened?.close());

  let count = 0;
  const make = async (image: string): Promise<string> => {
    const slotId = `watch-${++count}`;
    await backend.ensure({ name: `sb-${slotId}`, slotId, image }, signal);
    return `sb-${slotId}`;
  };
  const inState = <S extends SandboxObservation['state']>(
    name: string,
    state: S,
    accept: (observation: Extract<SandboxObservation, { state: S }>) => boolean = () => true,
    timeoutMs = 20_000,
  ): Promise<Extract<SandboxObservation, { state: S }>> =>
    until(
      `${name} ${state}`,
      async () => {
        const observation = (await backend.observe(name, signal)) as Extract<SandboxObservation, { state: S }>;
        return observation.state === state && accept(observation) ? observation : null;
      },
      timeoutMs,
    ) as Promise<Extract<SandboxObservation, { state: S }>>;
  const uidOf = (name: string): Promise<string> => kubectl(['get', 'pod', name, '-o', 'jsonpath={.metadata.uid}']);
  const isGone = async (name: string): Promise<void> =>
    expect(await kubectl(['get', 'pod', name, '--ignore-not-found'])).toBe('');

  it('reports why no node takes it, in the words of the scheduler, and leaves nothing behind when it is given up', async () => {
    const name = await make('nowhere');
    const { problem, message } = await inState(name, 'pending', (seen) => seen.problem !== undefined);
    expect(problem).toEqual({
      code: 'sandbox.unschedulable',
      detail: expect.stringMatching(/No node takes the sandbox: 0\/1 nodes are available: .*node affinity\/selector/),
    });
    expect(message).toBe(problem?.detail);
    expect(await backend.remove(name, await uidOf(name), signal)).toBe('gone');
    await isGone(name);
  });

  it('reports that the image cannot be pulled', async () => {
    const name = await make('no-image');
    const { problem } = await inState(name, 'pending', (seen) => seen.problem !== undefined);
    expect(problem).toEqual({
      code: 'sandbox.image-unavailable',
      detail: expect.stringContaining('registry.invalid/sandbox'),
    });
    await backend.remove(name, await uidOf(name), signal);
    await isGone(name);
  });

  it('is refused with a runtime class missing in the cluster, and nothing is made', async () => {
    const attempt = make('no-class');
    await expect(attempt).rejects.toMatchObject({
      code: 'sandbox.refused',
      detail: expect.stringContaining('RuntimeClass "no-such-class" not found'),
    });
    await isGone(`sb-watch-${count}`);
  });

  it('knows only templates and sizes that there are', async () => {
    await expect(make('other')).rejects.toMatchObject({
      code: 'sandbox.unknown-template',
      detail: expect.stringContaining('any, nowhere'),
    });
    await expect(
      backend.ensure({ name: 'sb-big', slotId: 'big', image: 'any', size: 8 }, signal),
    ).rejects.toMatchObject({ code: 'sandbox.unknown-template' });
  });

  it('says in the words of the cluster that a kubeconfig has no rights, or that its token is worth nothing', async () => {
    const folder = path.dirname(opened.kubeconfig);
    await writeKubeconfig(opened.platform, 'default', path.join(folder, 'nobody'));
    const spec = { name: 'sb-rightless', slotId: 'rightless', image: 'any' };
    const rightless = await opened.open({ access: await fromKubeconfig(path.join(folder, 'nobody')) });
    const words = expect.stringContaining('User "system:serviceaccount:slipway:default" cannot create resource "pods"');
    await expect(rightless.ensure(spec, signal)).rejects.toMatchObject({ code: 'sandbox.forbidden', detail: words });
    await expect(rightless.list(signal)).rejects.toMatchObject({
      code: 'sandbox.forbidden',
      detail: expect.stringContaining('cannot list resource'),
    });
    const config = JSON.parse(
      await opened.platform.cluster.kubectl(['config', 'view', '--raw', '--flatten', '--minify', '-o', 'json']),
    );
    await writeFile(
      path.join(folder, 'stale'),
      JSON.stringify({ ...config, users: [{ name: config.users[0].name, user: { token: 'worthless' } }] }),
    );
    const stale = await opened.open({ access: await fromKubeconfig(path.join(folder, 'stale')) });
    await expect(stale.ensure(spec, signal)).rejects.toMatchObject({
      code: 'sandbox.forbidden',
      detail: expect.stringContaining('does not accept'),
    });
    await Promise.all([rightless.close(), stale.close()]);
  });

  it('is avoided within 2 s when its node is cordoned or tainted, and not any more when that is over; whoever listens hears of it', async () => {
    const { realNode } = opened.platform.cluster;
    const name = await make('any');
    const { uid } = await inState(name, 'running', ({ avoid }) => avoid === undefined);
    let heard = 0;
    const unlisten = backend.onChange(() => (heard += 1));
    for (const [set, clear, words] of [
      [['cordon', realNode], ['uncordon', realNode], `its node ${realNode} is cordoned`],
      [
        ['taint', 'node', realNode, 'for=repair:NoSchedule'],
        ['taint', 'node', realNode, 'for-'],
        `its node ${realNode} has the taint for=repair:NoSchedule`,
      ],
    ] as const) {
      heard = 0;
      await kubectl(set);
      await inState(name, 'running', ({ avoid }) => avoid === words, 2_000);
      expect(heard).toBeGreaterThan(0);
      await kubectl(clear);
      await inState(name, 'running', ({ avoid }) => avoid === undefined, 2_000);
    }
    unlisten();
    expect(await backend.remove(name, uid, signal)).toBe('gone');
  });

  it('stays up when its action-server is killed, and counts that with the reason', async () => {
    const name = await make('any');
    const { uid, address } = await inState(name, 'running');
    for (const kill of [1, 2]) {
      await opened.platform.cluster.killContainer(uid, 'action-server');
      const { restarts } = await inState(name, 'running', (seen) => seen.restarts.count === kill, 60_000);
      expect(restarts.reasons).toEqual(
        Array(kill).fill(expect.stringMatching(/^2\S+Z action-server was killed \(SIGKILL\)$/)),
      );
    }
    expect(await backend.observe(name, signal)).toMatchObject({ uid, address });
    await backend.remove(name, uid, signal);
  });

  it('is the same to a replica that has just listed the pods as to one that has watched them', async () => {
    const { template } = opened;
    const [running, pending] = [await make('any'), await make('nowhere')];
    await inState(running, 'running');
    await inState(pending, 'pending', (seen) => seen.problem !== undefined);
    await opened.platform.cluster.killContainer((await inState(running, 'running')).uid, 'action-server');
    await inState(running, 'running', (seen) => seen.restarts.count === 1, 60_000);
    const late = await opened.open({
      templates: [template, { ...template, name: 'nowhere', nodeSelector: { place: 'nowhere' } }],
    });
    try {
      for (const name of [running, pending]) {
        await until(`${name} is listed`, async () => (await late.observe(name, signal)).state !== 'gone', 20_000);
        expect(await late.observe(name, signal)).toEqual(await backend.observe(name, signal));
      }
      expect((await late.list(signal)).map(({ name }) => name).sort()).toEqual(
        (await backend.list(signal)).map(({ name }) => name).sort(),
      );
    } finally {
      await late.close();
      for (const name of [running, pending]) await backend.remove(name, await uidOf(name), signal);
    }
  });

  it('says that it ran out of memory', async () => {
    const { reason } = await inState(await make('starved'), 'ended', () => true, 60_000);
    expect(reason).toBe('the sandbox ended: agent-server ran out of memory and was killed (OOMKilled)');
  });

  it('says that its node evicted it, and why', async () => {
    const { reason } = await inState(await make('no-disk'), 'ended', () => true, 90_000);
    expect(reason).toMatch(
      /^the sandbox ended: its node evicted it \(Evicted: .*(ephemeral|emptyDir|EmptyDir|storage).*\)$/,
    );
  });

  it('ends when another party deletes it, and is then gone', async () => {
    const name = await make('any');
    await inState(name, 'running');
    await kubectl(['delete', 'pod', name, '--wait=false']);
    await inState(name, 'ended', ({ reason }) => reason.startsWith('the sandbox ended: '));
    await inState(name, 'gone');
  });

  it('carries the note of its owner, and only the one that is meant does', async () => {
    const name = await make('any');
    const uid = await uidOf(name);
    const owner = { orgId: 'org-1', sessionId: 'session-1', claimId: 'claim-1' };
    await backend.note(name, 'another-uid', owner, signal);
    await backend.note('sb-never', uid, owner, signal);
    expect(await kubectl(['get', 'pods', '-l', 'slipway.dev/claim', '-o', 'name'])).toBe('');
    for (const _again of [1, 2]) await backend.note(name, uid, owner, signal);
    expect(await kubectl(['get', 'pods', '-l', 'slipway.dev/claim=claim-1', '-o', 'name'])).toBe(`pod/${name}\n`);
  });

  it('is found by a backend that was started after it', async () => {
    const name = await make('any');
    const before = await inState(name, 'running');
    const other = await opened.open();
    expect(await other.list(signal)).toContainEqual({ name, uid: before.uid, observation: before });
    expect(await other.observe(name, signal)).toEqual(before);
    await other.ensure({ name, slotId: name.slice(3), image: 'any' }, signal);
    expect(await other.remove(name, before.uid, signal)).toBe('gone');
    await inState(name, 'gone');
    await other.close();
  });

  it('is known all through an outage of the API server, and what happened meanwhile after it', async () => {
    const { apiServer } = opened.platform.cluster;
    const name = await make('any');
    const { uid } = await inState(name, 'running');
    await apiServer.stop();
    await until('the outage is seen', () => backend.health.staleForMs > 0);
    expect(await backend.observe(name, signal)).toMatchObject({ state: 'running', uid });
    expect(await backend.list(signal)).toContainEqual(expect.objectContaining({ name, uid }));
    await expect(make('any')).rejects.toMatchObject({ code: 'sandbox.cluster-unavailable' });
    await expect(backend.observe('sb-never', signal)).rejects.toMatchObject({ code: 'sandbox.cluster-unavailable' });
    await opened.platform.cluster.killContainer(uid, 'agent-server');
    await apiServer.start();
    await inState(name, 'ended', ({ reason }) => reason.endsWith('agent-server was killed (SIGKILL)'), 60_000);
    await until(
      'the watches are back',
      () => backend.health.staleForMs === 0 && backend.health.problem === null,
      30_000,
    );
  });

  it('is avoided when its node is not ready any more', async () => {
    const { kubelet, realNode } = opened.platform.cluster;
    const name = await make('any');
    await inState(name, 'running', ({ avoid }) => avoid === undefined);
    await kubelet.stop();
    await inState(
      name,
      'running',
      ({ avoid }) => avoid === `its node ${realNode} is not ready`,
      (NODE_GRACE_SECONDS + 30) * 1_000,
    );
    await kubelet.start();
    await until(
      'it is no longer',
      async () => {
        const seen = await backend.observe(name, signal);
        return seen.state === 'ended' || (seen.state === 'running' && seen.avoid === undefined);
      },
      // A kubelet that begins anew reads all that runs first; on a slow machine that is over a minute.
      180_000,
    );
  });
});
