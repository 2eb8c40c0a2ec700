import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { inOrg } from '@slipway/db/sql';
import { requestFix } from '@slipway/integrations/pull-requests';
import { expect } from 'expect';
import fc from 'fast-check';
import { dyingPool } from '../integrations/testing/dying-pool.js';
import { ORG, PublishWorld } from './testing/publish-world.js';
import type { HostFate } from './testing/scripted-host.js';

const ISSUE = 3;
const repository = { id: 1, full_name: 'acme/shop', private: true, default_branch: 'main' };
const mia = { id: 7, login: 'mia' };
const issue = {
  id: 30,
  number: ISSUE,
  title: 'Total is wrong',
  body: '',
  state: 'open',
  user: mia,
  created_at: '2026-11-24T03:00:00Z',
  updated_at: '2026-11-24T03:00:00Z',
};
const comment = (id: number, body: string) =>
  ['issue_comment', { action: 'created', issue, repository, sender: mia, comment: { id, body, user: mia, created_at: '2026-11-24T03:00:00Z' } }] as const;
const pull = (action: string, number: number) =>
  [
    'pull_request',
    {
      action,
      repository,
      sender: mia,
      pull_request: { ...issue, id: 40, number, merged: false, head: { ref: 'slipway/x', repo: { id: 1 } }, base: { ref: 'main', repo: { id: 1 } } },
    },
  ] as const;
const MENTION = comment(11, '@slipway mend the total');

describe('a pull request', () => {
  let world: PublishWorld;
  before(async () => {
    world = await PublishWorld.open();
  });
  after(() => world?.close());
  beforeEach(() => world.clear());

  const wasKilled = (error: unknown): boolean => error instanceof Error && (error.message === 'killed' || wasKilled(error.cause));
  const keyOf = async (queue: string): Promise<string> => (await world.wished()).find((each) => each.queue === queue)?.key ?? '';
  /** A conversation that has finished what an issue asked for. @returns its id. */
  const begun = async (): Promise<string> => {
    await world.arrive(...MENTION, 'd1');
    await world.settle();
    const [id = ''] = await world.conversations();
    await world.agentWorks(id);
    return id;
  };
  const published = async (): Promise<string> => {
    const id = await begun();
    await world.consider(id);
    await world.settle();
    return id;
  };
  const red = (): void =>
    void world.host.statuses.set(String(world.host.pushes.at(-1)?.split(' ')[2]), [{ context: 'tests', status: 'failure', description: '1 failed' }]);
  const look = async (): Promise<void> => {
    const row = await world.row();
    await world.runJob('pull-request', String(row['id']));
  };
  const progress = (): number => world.host.comments.filter((each) => each.issue === ISSUE).length;

  it('has the sections of its repository and the commands of the turn that asked for it', async () => {
    world.host.files = { 'PULL_REQUEST_TEMPLATE.md': '## What changed\n\n## How was it tested?\n\n- [ ] I have read the rules\n' };
    const id = await begun();
    await world.ran(id, 'node --test', 1);
    await world.ran(id, 'node --test', 0);
    await world.consider(id);
    await world.settle();
    world.host.files = {};
    expect(world.host.pulls.at(-1)?.body).toMatch(
      /^## What changed\n\nDone\.\n\n## How was it tested\?\n\nCommands [^\n]*\n\n- `node --test`: exit code 0\n\n- \[ \] I have read the rules\n\nFixes #3\n\nMade with Slipway/,
    );
  });

  it('is one, of one push, wherever a worker is killed while it publishes, and whatever the host has answered to it', { timeout: 120_000 }, async () => {
    const id = await begun();
    for (const fate of ['well', 'unanswered'] as const) {
      // Where the host's answer is lost as well, at every fourth statement.
      for (let dies = 0; ; dies += fate === 'well' ? 1 : 4) {
        await world.unpublish();
        await world.consider(id);
        // Push is the fourth of its requests; the template is looked for, and create is the sixth.
        world.host.fates = ['well', 'well', 'well', fate, 'well', fate];
        const key = await keyOf('pull-request');
        const died = await world.runJob('pull-request', key, dyingPool(world.pool, dies)).then(() => false, wasKilled);
        world.host.fates = [];
        await world.settle('pull-request');
        expect([dies, world.host.pulls.length, world.host.pushes.length, (await world.row())['publish']]).toEqual([dies, 1, 1, 'done']);
        if (!died) {
          expect(dies).toBeGreaterThan(8);
          break;
        }
      }
    }
  });

  it('is wanted once wherever a worker is killed when the run has ended', async () => {
    const id = await begun();
    for (let dies = 0; ; dies += 1) {
      await world.unpublish();
      const died = await world.consider(id, dyingPool(world.pool, dies)).then(() => false, wasKilled);
      await world.consider(id);
      await world.consider(id);
      await world.settle('pull-request');
      expect([dies, world.host.pulls.length, (await world.row())['wanted_version']]).toEqual([dies, 1, 1]);
      if (!died) break;
    }
  });

  it('of one issue is one, with one conversation and one progress comment, in any interleaving and repetition of deliveries', {
    timeout: 240_000,
  }, async () => {
    // The same mention by two hooks and redelivered, replies before and after it, and a pull request that is closed before it is opened.
    const deliveries = [
      [...MENTION, 'hook 1'],
      [...MENTION, 'hook 2'],
      [...MENTION, 'hook 1'],
      [...comment(12, 'and round it'), 'reply 1'],
      [...comment(12, 'and round it'), 'reply 2'],
      [...comment(13, '@slipway round it up'), 'again 1'],
      [...comment(13, '@slipway round it up'), 'again 2'],
      [...pull('closed', 100), 'closed'],
      [...pull('reopened', 100), 'opened'],
      [...pull('synchronized', 100), 'pushed'],
    ] as const;
    const fates = fc.array(fc.constantFrom<HostFate>('well', 'well', 'lost', 'unanswered', 503), { maxLength: 4 });
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('deliver' as const), which: fc.nat(deliveries.length - 1) }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('jobs' as const), dies: fc.option(fc.nat(25), { freq: 2 }), fates }) },
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
            await Promise.all((await world.wished()).slice(0, 3).map(({ queue, key }) => world.runJob(queue, key, pool).catch(() => {})));
          }
          world.host.fates = [];
          for (const which of rest) await deliver(which);
          await world.settle();
          await agent();
          await world.settle();
          const heads = new Set(world.host.pulls.map(({ head }) => head));
          expect([(await world.conversations()).length, world.host.pulls.length, heads.size, progress()]).toEqual([1, 1, 1, 1]);
          const row = await world.row();
          expect([row['state'], row['head_sha']]).toEqual(['open', world.host.pushes.at(-1)?.split(' ')[2]]);
          // A mention that was heard is one message, however often it came.
          const asked = (await world.messages()).filter((text) => text.includes('@slipway'));
          expect(new Set(asked).size).toBe(asked.length);
        },
      ),
      { numRuns: 12, endOnFailure: true },
    );
  });

  it('with a failed check sends the agent its log once, for who presses it and wherever a worker is killed', { timeout: 120_000 }, async () => {
    await published();
    red();
    await look();
    for (let dies = 0; ; dies += 1) {
      await world.owner.query(`DELETE FROM app.inbox_message WHERE text LIKE '%failed on commit%'`);
      const row = await world.row();
      const by = { kind: 'user', id: 'usr_mia', label: 'Mia' };
      await inOrg(world.pool, ORG, (client) =>
        requestFix(client, ORG, String(row['id']), { what: 'checks', checks: null, message: randomUUID(), automatic: false, by, at: new Date().toISOString() }),
      );
      const died = await world.runJob('pull-request', String(row['id']), dyingPool(world.pool, dies)).then(() => false, wasKilled);
      await look();
      await look();
      const asked = (await world.messages()).filter((text) => text.includes('failed on commit'));
      const after = await world.row();
      expect([dies, asked.length, after['fix_wanted'], after['fix_rounds']]).toEqual([dies, 1, null, 0]);
      expect(asked[0]).toContain('1 failed');
      if (!died) {
        expect(dies).toBeGreaterThan(5);
        break;
      }
    }
  });

  it('is fixed by itself as often as the connection allows, pushes each round, and says why it stops', async () => {
    await world.setting({ fixChecks: 'automatic', fixRounds: 2, publish: 'automatic' });
    const id = await published();
    for (const round of [1, 2]) {
      red();
      await look();
      await look();
      expect([(await world.row())['fix_rounds'], (await world.messages()).length]).toEqual([round, 1 + round]);
      await world.agentWorks(id);
      await world.consider(id);
      await world.settle();
      expect(world.host.pushes).toHaveLength(1 + round);
    }
    red();
    await look();
    await look();
    expect(await world.row()).toMatchObject({ fix_rounds: 2, fix_stopped: 'rounds' });
    expect([(await world.messages()).length, world.host.pulls.length]).toEqual([3, 1]);
  });

  it('is left with a reason when a round has changed nothing', async () => {
    await world.setting({ fixChecks: 'automatic', fixRounds: 2 });
    const id = await published();
    red();
    await look();
    await world.agentWorks(id, world.work);
    await world.consider(id);
    await world.settle();
    expect(await world.row()).toMatchObject({ fix_rounds: 1, fix_stopped: 'unchanged' });
    expect((await world.messages()).length).toBe(2);
  });
});
