import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { inOrg } from '@slipway/db/sql';
import fc from 'fast-check';
import { AnswersWorld, ORG, type Talk } from '../testing/answers-world.js';
import { dyingPool } from '../testing/dying-pool.js';
import type { Fate } from '../testing/scripted-forge.js';
import { handledReplies, markHandled, readyReplies } from './replies.queries.js';

const SHA = 'a'.repeat(40);

describe('a line comment that asked for something', () => {
  let world: AnswersWorld;
  let comments = 0;
  beforeAll(async () => {
    world = await AnswersWorld.open();
  });
  afterAll(() => world?.close());
  beforeEach(() => world.reset());

  const begin = async (): Promise<{ talk: Talk; comment: string }> => {
    const talk = await world.begin(null);
    comments += 1;
    const comment = `c${comments}`;
    await world.asksInThread(talk, [comment]);
    return { talk, comment };
  };
  const handled = ({ id }: Talk): Promise<string[]> =>
    inOrg(world.pool, ORG, async (client) => {
      await markHandled(client, ORG, id);
      return handledReplies(client, ORG, id);
    });
  const finish = async (talk: Talk, words = 'It is in cents now.'): Promise<void> => {
    await world.becomes(talk.id, 'running');
    await world.says(talk.id, words);
    await world.becomes(talk.id, 'finished');
  };
  const publish = async (talk: Talk, sha: string | null): Promise<void> => {
    const ids = await handled(talk);
    await inOrg(world.pool, ORG, (client) => readyReplies(client, ORG, talk.id, { ids, sha }));
  };
  const repliesTo = (comment: string): string[] =>
    world.forge.replies.filter((each) => each.comment === comment).map(({ body }) => body);
  const resolvedOf = (comment: string): string[] =>
    world.forge.resolved.filter((each) => each.startsWith(`${comment} `));

  it('is answered below itself with commit and words, and resolved after that, once the push is there', async () => {
    const { talk, comment } = await begin();
    await finish(talk);
    expect(await handled(talk)).toHaveLength(1);
    await world.settle(talk.id);
    expect([repliesTo(comment), resolvedOf(comment)]).toEqual([[], []]);
    await publish(talk, SHA);
    await world.settle(talk.id);
    expect(repliesTo(comment)).toEqual([
      expect.stringMatching(new RegExp(`^<!-- slipway:\\w+ -->\\nChanged in ${SHA}\\.\\n\\n> It is in cents now\\.`)),
    ]);
    expect(resolvedOf(comment)).toEqual([`${comment} after 1`]);
    await publish(talk, 'b'.repeat(40));
    await world.settle(talk.id);
    expect([repliesTo(comment).length, resolvedOf(comment).length]).toEqual([1, 1]);
  });

  it('is answered and stays open when nothing was changed for it', async () => {
    const { talk, comment } = await begin();
    await world.owner.query(
      `INSERT INTO app.pull_request (id, org_id, conversation_id, provider, host, repository, wanted, pushed_sha) VALUES (gen_random_uuid(), $1, $2, 'gitea', 'g', 'a/b', '{}', $3)`,
      [ORG, talk.id, SHA],
    );
    await finish(talk, 'It was right before.');
    await publish(talk, SHA);
    await world.settle(talk.id);
    expect(repliesTo(comment)).toEqual([
      expect.stringMatching(/Slipway has changed nothing for this\.\n\n> It was right before\./),
    ]);
    expect(resolvedOf(comment)).toEqual([]);
  });

  it('waits for the next publish while the agent works on it, or has not heard of it', async () => {
    const { talk, comment } = await begin();
    await world.becomes(talk.id, 'running');
    expect(await handled(talk)).toEqual([]);
    await finish(talk);
    await world.owner.query(`UPDATE app.inbox_message SET state = 'queued' WHERE conversation_id = $1`, [talk.id]);
    expect(await handled(talk)).toEqual([]);
    await world.settle(talk.id);
    expect(repliesTo(comment)).toEqual([]);
  });

  const wasKilled = (error: unknown): boolean =>
    error instanceof Error && (error.message === 'killed' || wasKilled(error.cause));

  it('has one reply, and is resolved after it, wherever a worker is killed', async () => {
    for (const fate of ['well', 'unanswered'] as const) {
      for (let dies = 0; ; dies += fate === 'well' ? 1 : 4) {
        const { talk, comment } = await begin();
        await finish(talk);
        await world.settle(talk.id);
        await publish(talk, SHA);
        world.forge.fates = [fate];
        const died = await world.run(talk.id, dyingPool(world.pool, dies)).then(() => false, wasKilled);
        world.forge.fates = [];
        await world.settle(talk.id);
        expect([dies, repliesTo(comment).length, new Set(resolvedOf(comment))]).toEqual([
          dies,
          1,
          new Set([`${comment} after 1`]),
        ]);
        if (!died) {
          expect(dies).toBeGreaterThan(8);
          break;
        }
      }
    }
  }, 120_000);

  it('has one reply whatever is repeated, overlaps, is killed or lost', async () => {
    const fate = fc.constantFrom<Fate>(
      'well',
      'lost',
      'unanswered',
      'half',
      { status: 503 },
      { status: 429, headers: { 'retry-after': '1' } },
    );
    const turn = fc.record({
      fates: fc.array(fate, { maxLength: 3 }),
      publishes: fc.boolean(),
      jobs: fc.array(fc.option(fc.nat(20), { freq: 2 }), { minLength: 1, maxLength: 3 }),
      passes: fc.constantFrom(0, 2_000, 20_000),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 4 }), async (turns) => {
        const { talk, comment } = await begin();
        await finish(talk);
        for (const { fates, publishes, jobs, passes } of turns) {
          if (publishes) await publish(talk, SHA);
          world.forge.fates = [...fates];
          world.now += passes;
          await Promise.all(
            jobs.map((dies) =>
              world.run(talk.id, dies === null ? world.pool : dyingPool(world.pool, dies)).catch(() => {}),
            ),
          );
        }
        world.forge.fates = [];
        world.now += 600_000;
        await publish(talk, SHA);
        await world.settle(talk.id);
        expect(repliesTo(comment)).toHaveLength(1);
        expect(new Set(resolvedOf(comment))).toEqual(new Set([`${comment} after 1`]));
      }),
      { numRuns: 25 },
    );
  }, 120_000);
});
