import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dyingPool } from '../integrations/testing/dying-pool.js';
import { DELIVERIES, ISSUE } from './testing/publish-deliveries.js';
import { PublishWorld } from './testing/publish-world.js';
import type { HostFate } from './testing/scripted-host.js';

const CHANGES = /^POST .*(?:git-receive-pack|pulls|merge_requests)$/;

for (const host of ['gitea', 'gitlab'] as const)
  describe(`a pull request at ${host}`, () => {
    const { mention, comment, pull } = DELIVERIES[host];
    let world: PublishWorld;
    beforeAll(async () => {
      world = await PublishWorld.open(host);
    });
    afterAll(() => world?.close());
    beforeEach(() => world.clear());

    const wasKilled = (error: unknown): boolean =>
      error instanceof Error && (error.message === 'killed' || wasKilled(error.cause));
    const keyOf = async (queue: string): Promise<string> =>
      (await world.jobs()).find((each) => each.queue === queue)?.key ?? '';
    const progress = (): number => world.host.comments.filter((each) => each.issue === ISSUE).length;

    it('is one, of one push, wherever a worker is killed while it publishes, and whatever the host has answered to it', async () => {
      const id = await world.begin(mention);
      for (const fate of ['well', 'unanswered'] as const) {
        // Where the host's answer is lost as well, at every fourth statement.
        for (let dies = 0; ; dies += fate === 'well' ? 1 : 4) {
          await world.unpublish();
          await world.consider(id);
          world.host.unanswered = fate === 'well' ? null : CHANGES;
          const key = await keyOf('pull-request');
          const died = await world
            .runJob('pull-request', key, dyingPool(world.pool, dies))
            .then(() => false, wasKilled);
          world.host.unanswered = null;
          await world.settle('pull-request');
          expect([dies, world.host.pulls.length, world.host.pushes.length, (await world.row())['publish']]).toEqual([
            dies,
            1,
            1,
            'done',
          ]);
          if (!died) {
            expect(dies).toBeGreaterThan(8);
            break;
          }
        }
      }
    }, 120_000);

    it('of one issue is one, with one conversation and one progress comment, in any interleaving and repetition of deliveries', async () => {
      // The same mention by two hooks and redelivered, replies before and after it, and a pull request that is closed
      // before it is opened.
      const deliveries = [
        [...mention, 'hook 1'],
        [...mention, 'hook 2'],
        [...mention, 'hook 1'],
        [...comment(12, 'and round it'), 'reply 1'],
        [...comment(12, 'and round it'), 'reply 2'],
        [...comment(13, '@slipway round it up'), 'again 1'],
        [...comment(13, '@slipway round it up'), 'again 2'],
        [...pull('closed', 100), 'closed'],
        [...pull('reopened', 100), 'opened'],
        [...pull('pushed', 100), 'pushed'],
      ] as const;
      const fates = fc.array(fc.constantFrom<HostFate>('well', 'well', 'lost', 'unanswered', 503), { maxLength: 4 });
      const step = fc.oneof(
        {
          weight: 4,
          arbitrary: fc.record({ kind: fc.constant('deliver' as const), which: fc.nat(deliveries.length - 1) }),
        },
        {
          weight: 3,
          arbitrary: fc.record({ kind: fc.constant('jobs' as const), dies: fc.option(fc.nat(25), { freq: 2 }), fates }),
        },
        { weight: 1, arbitrary: fc.record({ kind: fc.constant('agent' as const) }) },
      );
      const agent = async (): Promise<void> => {
        for (const id of await world.conversations()) {
          await world.agentWorks(id);
          await world.consider(id);
        }
      };
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { maxLength: 14 }),
          fc.shuffledSubarray([...deliveries.keys()], { minLength: deliveries.length }),
          async (steps, rest) => {
            await world.clear();
            const deliver = (which: number): Promise<string> => {
              const [event, body, id] = deliveries[which] as (typeof deliveries)[number];
              return world.arrive(event, body, id);
            };
            for (const each of steps) {
              if (each.kind === 'deliver') await deliver(each.which);
              if (each.kind === 'agent') await agent();
              if (each.kind !== 'jobs') continue;
              world.host.fates = [...each.fates];
              const pool = each.dies === null ? world.pool : dyingPool(world.pool, each.dies);
              await Promise.all(
                (await world.jobs())
                  .slice(0, 3)
                  .map(({ queue, key }) => world.runJob(queue, key, pool).catch(() => {})),
              );
            }
            world.host.fates = [];
            for (const which of rest) await deliver(which);
            await world.settle();
            await agent();
            await world.settle();
            const heads = new Set(world.host.pulls.map(({ head }) => head));
            expect([(await world.conversations()).length, world.host.pulls.length, heads.size, progress()]).toEqual([
              1, 1, 1, 1,
            ]);
            const row = await world.row();
            expect([row['state'], row['head_sha']]).toEqual(['open', world.host.pushes.at(-1)?.split(' ')[2]]);
            // A mention that was heard is one message, however often it came.
            const asked = (await world.messages()).filter((text) => text.includes('@slipway'));
            expect(new Set(asked).size).toBe(asked.length);
          },
        ),
        { numRuns: 12, endOnFailure: true },
      );
    }, 240_000);
  });
