import { expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { finish, terminal } from '../stack/script-book.ts';
import type { Talk } from '../stack/talk.ts';
import type { StackOnCluster } from './stack-on-cluster.ts';
import { outputs, stepDetails } from './stack-work.ts';

/**
 * The node checks disks every ten seconds, and the lease of the lost agent lasts as long. Milliseconds, for a busy
 * machine.
 */
const EVICTED_MS = 60_000;
const BACK_MS = 30_000;

/** What the cluster does not do, and says why. */
export function reasonCases(stack: () => StackOnCluster): void {
  /** Waits until the user reads this beside a start step. */
  const reads = (talk: Talk, words: RegExp, timeoutMs = BACK_MS): Promise<unknown> =>
    until(
      `the person reads ${words}`,
      () => {
        if (stepDetails(talk).some((detail) => words.test(detail))) return true;
        throw new Error(JSON.stringify(stepDetails(talk)));
      },
      timeoutMs,
    );

  it('a command that needs more memory than the sandbox has is ended and the agent gets the reason; the conversation goes on', async () => {
    const on = stack();
    const talk = await on.open.talk('memory', [
      terminal('python3 -c "print(len(bytearray(10**9)))"; echo "exit $?"'),
      terminal('echo still here'),
      finish(),
    ]);
    await talk.ended('finished');
    expect(outputs(talk).join('\n')).toMatch(/exit 137|Killed|interrupted/);
    expect(outputs(talk).at(-1)).toContain('still here');
    await on.rest(talk);
  });

  it('a sandbox that writes more than its disk is evicted: the user reads it in the words of the cluster, and the run goes on in another', async () => {
    const on = stack();
    const began = performance.now();
    const turns = [terminal('head -c 200M /dev/zero > big; sleep 80', { timeout: 90 }), terminal('ls -A'), finish()];
    // By all answers: that its files are gone reaches the agent as a message, which is no new task.
    const talk = await on.open.talk(
      'disk',
      ({ body }) => turns[(body.messages ?? []).filter(({ role }) => role === 'assistant').length] ?? finish(),
    );
    await reads(talk, /its node evicted it \(Evicted: .*(exceeds|exceeded)/i, EVICTED_MS);
    console.log(`200 MB written where 64 MiB are allowed → answered: ${Math.round(performance.now() - began)} ms`);
    await talk.ended('finished', undefined, BACK_MS);
    expect(outputs(talk).at(-1)).not.toContain('big');
    await talk.expectWholeLog();
    await on.rest(talk);
  });

  const obstacles = [
    {
      what: 'no node takes the pods of a template',
      wrong: { nodeSelector: { 'slipway.dev/no-such': 'node' } },
      code: 'sandbox.unschedulable',
      words: /0\/1 nodes are available: .*node affinity/,
    },
    {
      what: 'the image of a template cannot be pulled',
      wrong: { image: `registry.invalid/sandbox@sha256:${'0'.repeat(64)}`, imagePullPolicy: 'IfNotPresent' },
      code: 'sandbox.image-unavailable',
      words: /(ErrImagePull|ImagePullBackOff): .*registry\.invalid/,
    },
  ];
  for (const { what, wrong, code, words } of obstacles) {
    it(`${what}: whoever waits reads the words of the cluster, the API says them, and corrected it starts by itself`, async () => {
      const on = stack();
      await on.changeTemplates([{ ...on.template, ...wrong }]);
      const talk = await on.open.talk(what, [finish()]);
      await reads(talk, words);
      expect(await on.callRuntimeApi('POST', '/start', { session_id: `beside ${code}` })).toMatchObject({
        status: 503,
        body: { code, detail: expect.stringMatching(words), reason: expect.stringMatching(words) },
      });
      expect((await talk.get()).start.status).toBe('WAITING_FOR_SANDBOX');
      await on.changeTemplates([on.template]);
      await talk.ended('finished', undefined, BACK_MS);
      await on.rest(talk);
    });
  }

  it('a sandbox of size 2 has twice the limits, and what there is not is refused by a typed error that says what there is', async () => {
    const on = stack();
    const start = { session_id: 'double', resource_factor: 2 };
    const runtime = await until(
      'it has its sandbox',
      async () => {
        const answer = await on.callRuntimeApi('POST', '/start', start);
        if (answer.status === 200) return answer.body as { url: string; runtime_id: string };
        throw new Error(JSON.stringify(answer));
      },
      BACK_MS,
    );
    const pod = (await on.pods()).find(({ status }) => runtime.url === `http://${status.podIP}:8000`);
    expect(pod?.metadata.labels).toMatchObject({ 'slipway.dev/size': '2' });
    expect(pod?.spec.initContainers[0]).toMatchObject({
      name: 'action-server',
      resources: { limits: { cpu: '4', memory: '512Mi', 'ephemeral-storage': '128Mi' } },
    });
    expect((await on.callRuntimeApi('POST', '/stop', { runtime_id: runtime.runtime_id })).status).toBe(200);

    const refused = async (more: object): Promise<unknown> => {
      const { status, body } = await on.callRuntimeApi('POST', '/start', { session_id: 'refused', ...more });
      return { status, code: body.code, detail: body.detail };
    };
    const unknown = (detail: RegExp): object => ({
      status: 422,
      code: 'sandbox.unknown-template',
      detail: expect.stringMatching(detail),
    });
    expect(await refused({ image: 'no-such' })).toEqual(unknown(/"no-such".*use one of: any/));
    expect(await refused({ resource_factor: 8 })).toEqual(unknown(/size 8.*use one of: 1, 2/));
    expect(await refused({ resource_factor: 3 })).toEqual(unknown(/size 3.*use one of: 1, 2, 4, 8/));
    expect(await refused({ runtime_class: 'gvisor' })).toEqual(unknown(/"gvisor".*: none/));
    expect(await refused({ labels: { 'slipway.dev/org': 'another' } })).toMatchObject({
      status: 422,
      code: 'sandbox.reserved-label',
    });
    expect((await on.callRuntimeApi('GET', '/sessions/refused')).status).toBe(404);
  });

  it('an organization that has all the sandboxes it may have waits and reads so, holds nothing meanwhile, and goes on when it may have more', async () => {
    const on = stack();
    await on.open.query(`UPDATE runtime.org_usage SET cap = in_use WHERE org_id = $1`, [on.open.orgId]);
    const free = (): Promise<unknown> =>
      on.open.query('UPDATE runtime.org_usage SET cap = NULL WHERE org_id = $1', [on.open.orgId]);
    const talk = await on.open.talk('over quota', [finish()]);
    try {
      // With none in use it may have none, which is said in other words.
      await reads(talk, /which is its limit|would be over its limit/);
      expect(
        await on.open.query(
          `SELECT slot_id FROM runtime.claim WHERE session_id = $1 AND state IN ('bound', 'active')`,
          [talk.id],
        ),
      ).toEqual([]);
    } finally {
      await free();
    }
    await talk.ended('finished', undefined, BACK_MS);
    await on.rest(talk);
  });
}
