import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import type { Conversation } from '@slipway/contracts/conversations';
import type { Changes } from '@slipway/contracts/repositories';
import { createSampleRepository, until } from '@slipway/testing';
import { finish, terminal } from '../stack/script-book.ts';
import type { SandboxPod, StackOnCluster } from './stack-on-cluster.ts';
import { atWork, outputs, REPOSITORY, stepDetails, stepsOfWork } from './stack-work.ts';

const run = promisify(execFile);
/** Longest from the loss of a sandbox to the end of a run that had a few seconds left. Milliseconds. */
const BACK_MS = 30_000;

/** From the first start to the end of its sandbox in every way there is. */
export function lifeCases(stack: () => StackOnCluster): void {
  it('a conversation on a repository goes the whole way in a pod: start steps, commands as the tools\u2019 user, events, a diff that applies', async () => {
    const on = stack();
    const began = performance.now();
    const talk = await on.open.talk(
      'whole',
      [terminal('id -u; pwd; echo new > new.txt; echo more >> README.md'), finish()],
      {
        repository: `${on.open.git.url}/${REPOSITORY}`,
      },
    );
    await talk.watcher.waitFor('the first event of the agent', ({ event }) => event.source === 'agent');
    console.log(`create → first event of the agent: ${Math.round(performance.now() - began)} ms`);
    await talk.ended('finished');
    expect(outputs(talk)).toEqual([expect.stringMatching(/^10002\n\/workspace\/sample\b/)]);
    const { start } = await talk.get();
    expect(start.status).toBe('READY');
    expect(start.steps.map(({ status, state }) => `${status} ${state}`)).toEqual(
      expect.arrayContaining(['WAITING_FOR_SANDBOX done', 'PREPARING_REPOSITORY done', 'READY done']),
    );
    const { files } = (await (await on.open.user.fetch(`${talk.path}/changes`)).json()) as Changes;
    expect(files.map((file) => file.path).sort()).toEqual(['README.md', 'new.txt']);
    const patch = path.join(on.open.folder, 'work.patch');
    await writeFile(patch, Buffer.from(await (await on.open.user.fetch(`${talk.path}/diff`)).arrayBuffer()));
    const clone = path.join(on.open.folder, 'clone');
    await run('git', ['clone', '-q', path.join(on.open.repositories, REPOSITORY), clone]);
    await run('git', ['apply', patch], { cwd: clone });
    expect((await run('git', ['status', '--short'], { cwd: clone })).stdout.split('\n').filter(Boolean).sort()).toEqual(
      [' M README.md', '?? new.txt'],
    );
    await talk.expectWholeLog();
  });

  it('pods show their owners from outside, and no pod has two sessions', async () => {
    const on = stack();
    const talks = await Promise.all(
      [1, 2].map((number) => on.open.talk(`owner ${number}`, [terminal('hostname'), finish()])),
    );
    await Promise.all(talks.map((talk) => talk.ended('finished')));
    const pods = await until('both pods are noted', async () => {
      const found = await Promise.all(talks.map((talk) => on.podOf(talk)));
      return found.every(({ metadata }) => 'slipway.dev/claim' in metadata.labels) && found;
    });
    for (const [index, talk] of talks.entries()) {
      const { metadata } = pods[index] as SandboxPod;
      expect(metadata.annotations).toMatchObject({
        'slipway.dev/org': talk.orgId,
        'slipway.dev/session': talk.id,
        'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
      });
      expect(outputs(talk)[0]).toContain(metadata.name);
    }
    expect(new Set(pods.map(({ metadata }) => metadata.uid)).size).toBe(2);
    await Promise.all(talks.map((talk) => on.rest(talk)));
  });

  it('paused, the pod is gone and its files are kept; resumed, the conversation goes on with them in another pod', async () => {
    const on = stack();
    const talk = await on.open.talk(
      'pause',
      [terminal('echo uncommitted > draft.txt; echo mine > ~/.note; (sleep 600 &)'), finish()],
      {
        repository: `${on.open.git.url}/${REPOSITORY}`,
      },
    );
    await talk.ended('finished');
    const before = await on.podOf(talk);
    const paused = performance.now();
    expect((await talk.post('pause')).status).toBe(202);
    await on.sandboxIs(talk, 'PAUSED');
    console.log(`pause → PAUSED: ${Math.round(performance.now() - paused)} ms`);
    await until('its pod is gone', async () =>
      (await on.pods()).every(({ metadata }) => metadata.uid !== before.metadata.uid),
    );
    console.log(`pause → pod gone: ${Math.round(performance.now() - paused)} ms`);

    const resumed = performance.now();
    const message = await talk.send(
      on.open.book.write('resumed', [terminal('git status --short; cat draft.txt ~/.note'), finish()]),
    );
    await talk.ended('finished', message);
    console.log(
      `message to a paused conversation → answered and finished: ${Math.round(performance.now() - resumed)} ms`,
    );
    // What was said of the files and of the start, beside the files.
    const said = talk.of('ConversationStateUpdateEvent').map(({ key, value }) => `${key} ${JSON.stringify(value)}`);
    expect({ said, output: outputs(talk).at(-1) }).toEqual({
      said,
      output: expect.stringContaining('?? draft.txt\nuncommitted\nmine'),
    });
    expect((await on.podOf(talk)).metadata.uid).not.toBe(before.metadata.uid);
    await talk.expectWholeLog();
    await on.rest(talk);
  });

  const losses: [string, RegExp, (on: StackOnCluster, pod: SandboxPod) => Promise<unknown>][] = [
    [
      'its agent-server is killed',
      /agent-server was killed|SIGKILL|137/,
      (on, pod) => on.cluster.killContainer(pod.metadata.uid, 'agent-server'),
    ],
  ];
  for (const [what, reason, lose] of losses) {
    it(`in the middle of a run ${what}: within 30 s the run goes on in another pod, no event is lost or doubled, and the person reads why and what was lost`, async () => {
      const on = stack();
      const talk = await atWork(on, what);
      const before = await on.podOf(talk);
      const lines = [...talk.watcher.log];
      const lost = performance.now();
      await lose(on, before);
      await talk.watcher.waitFor(
        'the start has begun anew',
        ({ event, seq }) =>
          seq > lines.length && event.kind === 'ConversationStateUpdateEvent' && event.key === 'start_task',
        BACK_MS,
      );
      await until(
        'the agent goes on',
        async () =>
          (await talk.get()).start.status === 'READY' &&
          (await talk.get()).start.steps.some(({ attempt }) => attempt === 2),
        BACK_MS,
      );
      console.log(`loss → the run goes on: ${Math.round(performance.now() - lost)} ms`);
      await talk.ended('finished', undefined, BACK_MS);
      await talk.expectWholeLog();
      expect(talk.watcher.log.slice(0, lines.length)).toEqual(lines);
      expect((await on.podOf(talk)).metadata.uid).not.toBe(before.metadata.uid);
      const said = stepDetails(talk).join('\n');
      expect(said).toMatch(reason);
      expect(said).toMatch(/workspace of this session was lost/);
      await on.rest(talk);
    });
  }

  it('a drain in the middle of a run keeps uncommitted work: the run goes on with it in another pod; a finished conversation gets none until its next message', async () => {
    const on = stack();
    const idle = await on.open.talk('idle at a drain', [terminal('echo kept > idle.txt'), finish()]);
    await idle.ended('finished');
    const idlePod = await on.podOf(idle);
    const talk = await atWork(on, 'drained', stepsOfWork(8));
    const before = await on.podOf(talk);
    const drained = performance.now();
    await on.drain(before);
    console.log(`drain of two pods in use, both workspaces kept: ${Math.round(performance.now() - drained)} ms`);
    await talk.ended('finished', undefined, BACK_MS);
    console.log(`drain begun → the run has ended in another pod: ${Math.round(performance.now() - drained)} ms`);
    await talk.expectWholeLog();
    expect((await on.podOf(talk)).metadata.uid).not.toBe(before.metadata.uid);
    const said = stepDetails(talk).join('\n');
    expect(said).toMatch(/deleted|no longer there/);
    expect(said).not.toMatch(/workspace of this session was lost/);
    const { files } = (await (await on.open.user.fetch(`${talk.path}/changes`)).json()) as Changes;
    expect(files.map((file) => file.path)).toEqual(expect.arrayContaining(['step-0.txt', 'step-1.txt']));
    await on.sandboxIs(idle, 'PAUSED');
    expect((await on.pods()).map(({ metadata }) => metadata.uid)).not.toContain(idlePod.metadata.uid);
    expect((await idle.get()).start.steps.filter(({ attempt }) => attempt > 1)).toEqual([]);
    const message = await idle.send(on.open.book.write('idle again', [terminal('cat idle.txt'), finish()]));
    await idle.ended('finished', message);
    expect(outputs(idle).at(-1)).toContain('kept');
    await Promise.all([talk, idle].map((each) => on.rest(each)));
  });

  it('when action-server is killed the conversation goes on in the same pod, and the restart is reported', async () => {
    const on = stack();
    const talk = await atWork(on, 'tools killed');
    const before = await on.podOf(talk);
    await on.cluster.killContainer(before.metadata.uid, 'action-server');
    await talk.ended('finished', undefined, BACK_MS);
    await talk.expectWholeLog();
    expect((await on.podOf(talk)).metadata.uid).toBe(before.metadata.uid);
    const sandbox = await until('the restart is reported', async () => {
      const now = await on.open.sandboxOf(talk);
      return now.restart_count > 0 && now;
    });
    expect(sandbox).toMatchObject({ restart_count: 1, restart_reasons: [expect.stringContaining('action-server')] });
    await on.rest(talk);
  });

  it('runtime-api, worker and app-server are killed at once while an agent works: the same pod goes on', async () => {
    const on = stack();
    const talk = await atWork(on, 'platform killed', stepsOfWork(20));
    const before = await on.podOf(talk);
    await Promise.all((['runtime-api', 'worker', 'app-server'] as const).map((service) => on.killService(service)));
    await talk.ended('finished', undefined, BACK_MS);
    await talk.expectWholeLog();
    expect((await on.podOf(talk)).metadata.uid).toBe(before.metadata.uid);
    const now: Conversation = await talk.get();
    expect(now.start.steps.filter(({ attempt }) => attempt > 1)).toEqual([]);
    await on.rest(talk);
  });
}

export async function makeRepository(on: StackOnCluster): Promise<void> {
  await createSampleRepository(on.open.repositories, REPOSITORY, { 'README.md': '# Sample\n' });
}
