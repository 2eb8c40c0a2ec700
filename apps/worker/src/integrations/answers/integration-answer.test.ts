import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ExecutionStatus } from '@slipway/contracts/events';
import { inOrg } from '@slipway/db/sql';
import fc from 'fast-check';
import { AnswersWorld, ORG, START, type Talk } from '../testing/answers-world.js';
import { dyingPool } from '../testing/dying-pool.js';
import type { Fate } from '../testing/scripted-forge.js';
import { tryAgain } from './answers.queries.js';

describe('what a thread shows', () => {
  let world: AnswersWorld;
  beforeAll(async () => {
    world = await AnswersWorld.open();
  });
  afterAll(() => world?.close());
  beforeEach(() => world.reset());

  it('is eyes on what asked, then one comment that is edited until the run ends', async () => {
    const talk = await world.begin();
    await world.becomes(talk.id, 'running');
    expect(await world.run(talk.id)).toBe(null);
    expect(world.forge.reactions).toContain('issues/comments 77');
    expect(world.forge.calls.slice(-2)).toEqual([
      'POST /api/v1/repos/acme/shop/issues/comments/77/reactions',
      `POST /api/v1/repos/acme/shop/issues/${talk.issue}/comments`,
    ]);
    const link = `[Open the conversation](https://slipway.test/answers/conversations/${talk.id})`;
    expect(world.shownOn(talk)).toEqual([
      expect.stringMatching(/^<!-- slipway:[0-9a-f]{32} -->\nSlipway is working on this\.\n\n/),
    ]);
    await world.becomes(talk.id, 'waiting_for_confirmation');
    await world.run(talk.id);
    expect(world.shownOn(talk)[0]).toContain('waits for approval');
    await world.becomes(talk.id, 'running');
    await world.says(talk.id, 'The total was **never** added.');
    await world.becomes(talk.id, 'finished');
    await world.run(talk.id);
    expect(world.shownOn(talk)).toEqual([
      expect.stringMatching(/Slipway has finished\. It says:\n\n> The total was \*\*never\*\* added\.\n\n/),
    ]);
    expect(world.shownOn(talk)[0]).toContain(link);
    expect(await world.wanted(talk.id)).toBe(0);
  });

  it('changes at most once in 15 s while the agent works, and at once when a user is needed', async () => {
    const talk = await world.begin();
    expect(await world.run(talk.id)).toBe(null);
    await world.becomes(talk.id, 'running');
    const wait = (await world.run(talk.id)) ?? 0;
    expect([wait > 14_000 && wait <= 15_000, world.shownOn(talk)[0]?.includes('waits for a message')]).toEqual([
      true,
      true,
    ]);
    const { rows } = await world.owner.query(
      `SELECT enqueued_at > now() + interval '8 seconds' AS later FROM app.outbox WHERE key = $1 AND queue = 'integration-answer'`,
      [talk.id],
    );
    expect(rows).toEqual([{ later: true }]);
    await world.becomes(talk.id, 'waiting_for_confirmation');
    // Something new: the outbox waits no more.
    expect(
      (
        await world.owner.query(
          `SELECT enqueued_at < now() AS due FROM app.outbox WHERE key = $1 AND queue = 'integration-answer'`,
          [talk.id],
        )
      ).rows,
    ).toEqual([{ due: true }]);
    expect(await world.run(talk.id)).toBe(null);
    expect(world.shownOn(talk)[0]).toContain('waits for approval');
    const calls = world.forge.calls.length;
    expect(await world.run(talk.id)).toBe(null);
    expect(world.forge.calls.length).toBe(calls);
  });

  it('is wanted by a change of state in world.issues alone, and again by a run that begins and ends in one batch', async () => {
    const talk = await world.begin();
    await world.says(talk.id, 'First.');
    await world.becomes(talk.id, 'running');
    await world.becomes(talk.id, 'finished');
    await world.settle(talk.id);
    await world.says(talk.id, 'Second.');
    expect(await world.wanted(talk.id)).toBe(1);
    await world.settle(talk.id);
    expect(world.shownOn(talk)).toEqual([expect.stringContaining('> Second.')]);
    await world.owner.query('DELETE FROM app.integration_thread WHERE conversation_id = $1', [talk.id]);
    await world.becomes(talk.id, 'running');
    expect(await world.wanted(talk.id)).toBe(0);
  });

  it('holds no answer to what a member has asked on our own pages', async () => {
    const talk = await world.begin();
    await world.asks(talk.id);
    await world.says(talk.id, 'The keys are in the vault.');
    await world.becomes(talk.id, 'running');
    await world.becomes(talk.id, 'finished');
    await world.settle(talk.id);
    expect(world.shownOn(talk)).toEqual([
      expect.stringMatching(/Work on this goes on in Slipway\.\n\n\[Open the conversation\]/),
    ]);
    expect(world.shownOn(talk)[0]).not.toContain('vault');
  });

  it('holds no words of before its own request, when an insider draws out a private answer by a request that ends without words', async () => {
    const talk = await world.begin();
    await world.says(talk.id, 'Done as asked.');
    await world.asks(talk.id);
    await world.says(talk.id, 'The keys are in the vault.');
    await world.asksInThread(talk);
    await world.becomes(talk.id, 'running');
    await world.becomes(talk.id, 'finished');
    await world.settle(talk.id);
    expect(world.shownOn(talk)).toEqual([expect.stringContaining('Slipway has finished.\n')]);
    expect(world.shownOn(talk)[0]).not.toContain('vault');
    await world.says(talk.id, 'Answered here.');
    await world.becomes(talk.id, 'running');
    await world.becomes(talk.id, 'finished');
    await world.settle(talk.id);
    expect(world.shownOn(talk)[0]).toContain('> Answered here.');
  });

  it('holds no words that answer a private message too, in whatever order the agent has heard the two', async () => {
    for (const first of ['here', 'privately']) {
      const talk = await world.begin();
      await world.says(talk.id, 'Done as asked.');
      if (first === 'privately') await world.asks(talk.id);
      await world.asksInThread(talk);
      if (first === 'here') await world.asks(talk.id);
      await world.says(talk.id, 'To both of you: the keys are in the vault.');
      await world.becomes(talk.id, 'running');
      await world.becomes(talk.id, 'finished');
      await world.settle(talk.id);
      expect(world.shownOn(talk)).toEqual([expect.stringContaining('Work on this goes on in Slipway.\n')]);
      expect(world.shownOn(talk)[0]).not.toContain('vault');
    }
  });

  it('holds no answer to what another thread of the conversation asked: who reads a public pull request reads no private issue', async () => {
    const talk = await world.begin();
    const pull = await world.alsoIn(talk);
    await world.says(talk.id, 'The keys are in the vault.');
    await world.becomes(talk.id, 'running');
    await world.becomes(talk.id, 'finished');
    await world.settle(talk.id);
    expect(world.shownOn(talk)[0]).toContain('vault');
    expect(world.shownOn(pull)).toEqual([expect.stringContaining('Work on this goes on in Slipway.\n')]);
    // A message of the release before does not say of which thread it is.
    await world.owner.query(
      'UPDATE app.inbox_message SET thread_key = NULL, thread_connection_id = NULL WHERE conversation_id = $1',
      [talk.id],
    );
    await world.becomes(talk.id, 'running');
    await world.becomes(talk.id, 'finished');
    await world.settle(talk.id);
    expect(JSON.stringify([world.shownOn(talk), world.shownOn(pull)])).not.toContain('vault');
  });

  it('names a failure by its title and next step, and never by its detail', async () => {
    const talk = await world.begin();
    await world.log.write(ORG, talk.id, null, () => ({
      events: [
        { kind: 'error', code: 'budget.exhausted', detail: 'olga@acme.test has spent 12 USD' },
        { kind: 'execution-status', status: 'error' },
      ],
    }));
    await world.settle(talk.id);
    expect(world.shownOn(talk)[0]).toMatch(/Slipway could not finish\. .*\. .*\./);
    expect(world.shownOn(talk)[0]).not.toContain('olga');
  });

  it('links the pull request with its state, and says why it is not there', async () => {
    const talk = await world.begin(null);
    await world.becomes(talk.id, 'running');
    await world.becomes(talk.id, 'finished');
    await world.settle(talk.id);
    await world.owner.query(
      `INSERT INTO app.pull_request (id, org_id, conversation_id, provider, host, repository, wanted) VALUES (gen_random_uuid(), $1, $2, 'gitea', 'git.test', 'acme/shop', '{}')`,
      [ORG, talk.id],
    );
    const change = async (set: string): Promise<string | undefined> => {
      await world.owner.query(`UPDATE app.pull_request SET ${set} WHERE conversation_id = $1`, [talk.id]);
      expect(await world.wanted(talk.id)).toBe(1);
      await world.settle(talk.id);
      return world.shownOn(talk)[0];
    };
    expect(
      await change(`publish = 'failed', problem = '{"code": "pull-request.too-large", "detail": "secret.bin"}'`),
    ).toMatch(/Its changes are not published: The changes are too large to publish\. .*\n\n\[Open the conversation\]/);
    expect(
      await change(
        `publish = 'done', problem = NULL, state = 'open', number = 7, url = 'https://git.test/acme/shop/pulls/7'`,
      ),
    ).toContain('[Pull request #\u20607](https://git.test/acme/shop/pulls/7) · [Open the conversation]');
    expect(await change(`state = 'merged'`)).toContain('[Pull request #\u20607 (merged)]');
    expect(world.shownOn(talk)).toHaveLength(1);
    expect(world.shownOn(talk)[0]).not.toContain('secret.bin');
  });

  it('comes when the provider says, where it limits calls; no other thread of the connection calls it before', async () => {
    const [talk, other] = [await world.begin(), await world.begin()];
    world.forge.fates = [{ status: 429, headers: { 'retry-after': '90' } }];
    const calls = world.forge.calls.length;
    expect(await world.run(talk.id)).toBe(90_000);
    expect(await world.run(other.id)).toBe(90_000);
    expect(world.forge.calls.length).toBe(calls + 1);
    world.now += 90_001;
    expect([await world.run(talk.id), await world.run(other.id)]).toEqual([null, null]);
    world.forge.fates = [
      {
        status: 403,
        headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Math.floor(world.now / 1000) + 40) },
      },
    ];
    await world.becomes(talk.id, 'waiting_for_confirmation');
    const wait = (await world.run(talk.id)) ?? 0;
    expect(wait > 38_000 && wait <= 41_000).toBe(true);
    expect(await world.row(talk)).toMatchObject({ state: 'waiting', problem: 'The provider limits our calls.' });
  });

  it('after an hour of the provider’s absence comes without a burst', async () => {
    const talks: Talk[] = [];
    for (let many = 0; many < 8; many += 1) talks.push(await world.begin(null));
    await world.owner.query(`UPDATE app.integration_connection SET paced_until = $1`, [
      new Date(world.now + 100 * 200 - 3 * 200),
    ]);
    const waits = [];
    for (const talk of talks) waits.push(await world.run(talk.id));
    expect(waits.slice(0, 4)).toEqual([null, null, null, null]);
    expect(waits.slice(4)).toEqual([200, 200, 200, 200]);
  });

  it('is given up after 24 hours with its reason, and tried again by the next request', async () => {
    const talk = await world.begin(null);
    for (const [at, left] of [
      [0, true],
      [60_000, true],
      [25 * 3_600_000, false],
    ] as const) {
      world.forge.fates = [{ status: 503 }];
      world.now = START + at;
      expect([at, (await world.run(talk.id)) !== null]).toEqual([at, left]);
    }
    expect(await world.row(talk)).toMatchObject({ state: 'given-up', problem: `${world.host} does not answer (503).` });
    await inOrg(world.pool, ORG, (client) => tryAgain(client, ORG, talk.id));
    await world.settle(talk.id);
    expect(world.shownOn(talk)).toHaveLength(1);
  });

  it('makes no call with a token that is refused, until there is another', async () => {
    const talk = await world.begin(null);
    world.forge.fates = [{ status: 401 }];
    await world.run(talk.id);
    expect((await world.owner.query('SELECT state FROM app.integration_connection')).rows).toEqual([
      { state: 'needs-attention' },
    ]);
    const calls = world.forge.calls.length;
    world.now += 3_600_000;
    expect(await world.run(talk.id)).toBe(300_000);
    expect(world.forge.calls.length).toBe(calls);
    expect((await world.row(talk)).problem).toContain('Enter a new one');
    await world.owner.query(`UPDATE app.integration_connection SET state = 'active'`);
    await world.settle(talk.id);
    expect(world.shownOn(talk)).toHaveLength(1);
  });

  it('is left alone once it was deleted, until there is a new request', async () => {
    const talk = await world.begin(null);
    await world.run(talk.id);
    world.forge.comments.splice(
      world.forge.comments.findIndex((each) => each.issue === talk.issue),
      1,
    );
    await world.becomes(talk.id, 'waiting_for_confirmation');
    await world.settle(talk.id);
    expect([await world.row(talk), world.shownOn(talk)]).toEqual([
      expect.objectContaining({ state: 'given-up', external_id: null }),
      [],
    ]);
    await inOrg(world.pool, ORG, (client) => tryAgain(client, ORG, talk.id));
    await world.settle(talk.id);
    expect(world.shownOn(talk)).toHaveLength(1);
  });

  it('adversary: who copies our marker into a comment of their own does not get it edited', async () => {
    const talk = await world.begin(null);
    world.forge.fates = ['unanswered'];
    await world.run(talk.id);
    const [ours] = world.forge.ofIssue(talk.issue);
    const copy = { id: 99_999, issue: talk.issue, body: `mine ${ours?.body}`, createdAt: world.now };
    world.forge.comments.push(copy);
    await world.becomes(talk.id, 'waiting_for_confirmation');
    await world.settle(talk.id);
    expect([ours?.body.includes('waits for approval'), copy.body.startsWith('mine ')]).toEqual([true, true]);
    expect(world.forge.ofIssue(talk.issue)).toHaveLength(2);
  });

  const wasKilled = (error: unknown): boolean =>
    error instanceof Error && (error.message === 'killed' || wasKilled(error.cause));
  const STATES = [
    'running',
    'waiting_for_confirmation',
    'finished',
    'error',
    'paused',
  ] as const satisfies readonly ExecutionStatus[];
  const expectOne = async (talk: Talk, last: ExecutionStatus | null): Promise<void> => {
    const words = {
      running: 'working',
      waiting_for_confirmation: 'approval',
      finished: 'has finished',
      error: 'could not finish',
      paused: 'waits for a message',
    };
    expect(world.shownOn(talk)).toEqual([
      expect.stringContaining(last === null ? 'waits for a message' : words[last as keyof typeof words]),
    ]);
    expect(world.forge.reactions.filter((each) => each === `issues/comments ${talk.issue}`)).toHaveLength(1);
    expect(await world.wanted(talk.id)).toBe(0);
  };

  it('is one comment, with the last state, wherever a worker is killed', async () => {
    for (const fate of ['well', 'unanswered'] as const) {
      for (let dies = 0; ; dies += 1) {
        const talk = await world.begin(String(world.issues + 1));
        await world.becomes(talk.id, 'running');
        world.forge.fates = ['well', fate];
        const died = await world.run(talk.id, dyingPool(world.pool, dies)).then(() => false, wasKilled);
        world.forge.fates = [];
        await world.becomes(talk.id, 'finished');
        await world.settle(talk.id);
        await expectOne(talk, 'finished');
        if (!died) {
          expect(dies).toBeGreaterThan(10);
          break;
        }
      }
    }
  }, 120_000);

  it('whatever is repeated, overlaps, is killed or lost is one comment a thread, and its last text that of the last state', async () => {
    const fate = fc.constantFrom<Fate>(
      'well',
      'well',
      'lost',
      'unanswered',
      'half',
      'endless',
      { status: 503 },
      { status: 429, headers: { 'retry-after': '1' } },
    );
    const turn = fc.record({
      state: fc.option(fc.constantFrom(...STATES), { freq: 2 }),
      fates: fc.array(fate, { maxLength: 3 }),
      jobs: fc.array(fc.option(fc.nat(20), { freq: 2 }), { minLength: 1, maxLength: 3 }),
      passes: fc.constantFrom(0, 500, 20_000),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 5 }), async (turns) => {
        const talk = await world.begin(String(world.issues + 1));
        let last: ExecutionStatus | null = null;
        for (const { state, fates, jobs, passes } of turns) {
          if (state !== null) {
            last = state;
            await world.becomes(talk.id, state);
          }
          world.forge.fates = [...fates];
          world.now += passes;
          await Promise.all(
            jobs.map((dies) =>
              world.run(talk.id, dies === null ? world.pool : dyingPool(world.pool, dies)).catch((error: unknown) => {
                if (!wasKilled(error)) throw error;
              }),
            ),
          );
        }
        world.forge.fates = [];
        await world.settle(talk.id);
        await expectOne(talk, last);
      }),
      { numRuns: 40 },
    );
  }, 300_000);
});
