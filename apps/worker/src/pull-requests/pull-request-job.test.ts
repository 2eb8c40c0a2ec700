import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { inOrg } from '@slipway/db/sql';
import { requestFix } from '@slipway/integrations/pull-requests';
import { dyingPool } from '../integrations/testing/dying-pool.js';
import { DELIVERIES } from './testing/publish-deliveries.js';
import { ORG, PublishWorld } from './testing/publish-world.js';

const { mention: MENTION } = DELIVERIES.gitea;

describe('a pull request', () => {
  let world: PublishWorld;
  beforeAll(async () => {
    world = await PublishWorld.open();
  });
  afterAll(() => world?.close());
  beforeEach(() => world.clear());

  const wasKilled = (error: unknown): boolean =>
    error instanceof Error && (error.message === 'killed' || wasKilled(error.cause));
  const begun = (): Promise<string> => world.begin(MENTION);
  const published = async (): Promise<string> => {
    const id = await begun();
    await world.consider(id);
    await world.settle();
    return id;
  };
  const red = (): void =>
    void world.host.statuses.set(String(world.host.pushes.at(-1)?.split(' ')[2]), [
      { context: 'tests', status: 'failure', description: '1 failed' },
    ]);
  const look = async (): Promise<void> => {
    const row = await world.row();
    await world.runJob('pull-request', String(row['id']));
  };

  it('has the sections of its repository and the commands of the turn that asked for it', async () => {
    world.host.files = {
      'PULL_REQUEST_TEMPLATE.md': '## What changed\n\n## How was it tested?\n\n- [ ] I have read the rules\n',
    };
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

  it('with a failed check sends the agent its log once, for who presses it and wherever a worker is killed', async () => {
    await published();
    red();
    await look();
    for (let dies = 0; ; dies += 1) {
      await world.owner.query(`DELETE FROM app.inbox_message WHERE text LIKE '%failed on commit%'`);
      const row = await world.row();
      const by = { kind: 'user', id: 'usr_mia', label: 'Mia' };
      await inOrg(world.pool, ORG, (client) =>
        requestFix(client, ORG, String(row['id']), {
          what: 'checks',
          checks: null,
          message: randomUUID(),
          automatic: false,
          by,
          at: new Date().toISOString(),
        }),
      );
      const died = await world
        .runJob('pull-request', String(row['id']), dyingPool(world.pool, dies))
        .then(() => false, wasKilled);
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
  }, 120_000);

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
