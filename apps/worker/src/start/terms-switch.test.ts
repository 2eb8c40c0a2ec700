import { after, before, describe, it } from 'node:test';
import { inOrg } from '@slipway/db/sql';
import { expect } from 'expect';
import { type Harness, ORG, openHarness } from '../testing/harness.js';

describe('how far the agent of a conversation goes by itself', () => {
  let harness: Harness;
  before(async () => {
    harness = await openHarness();
  });
  after(() => harness.close());

  const told = (id: string): readonly object[] => harness.peers.sessions.get(id)?.sandbox?.terms ?? [];
  /** As app-server stores what no sandbox could be told. */
  const change = (id: string, type: string, steps: number | null, budget: string | null): Promise<unknown> =>
    inOrg(harness.pool, ORG, (client) =>
      client.query(
        'UPDATE app.conversation SET agent_type = $2, max_iterations = $3, max_budget_usd = $4::numeric, terms_version = terms_version + 1 WHERE id = $1',
        [id, type, steps, budget],
      ),
    );
  const look = async (id: string): Promise<void> => {
    await harness.addJob('conversation-deliver', id);
    await harness.start(id);
  };

  it('is told at the start, below the ceiling of the installation, and once more for each change that came meanwhile', async () => {
    const { id, message } = await harness.create();
    await change(id, 'plan', 4, '2.50');
    await harness.start(id);
    expect(told(id)).toEqual([{ agent_type: 'plan', max_iterations: 4, max_budget_per_task: 2.5 }]);
    await change(id, 'default', null, null);
    const next = await harness.send(id, 'carry it out');
    await harness.start(id);
    await look(id);
    expect(told(id).slice(1)).toEqual([{ agent_type: 'default', max_iterations: null, max_budget_per_task: null, version: 2, epoch: 1 }]);
    expect(harness.peers.messagesOf(id)).toEqual([message, next]);
    expect((await harness.row(id)).attempt).toBe(1);
  });

  it('is told once more when they are the same again but changed in between, since nobody knows which the agent has', async () => {
    const { id } = await harness.create();
    await change(id, 'default', 4, null);
    await harness.start(id);
    await change(id, 'default', 5, null);
    await change(id, 'default', 4, null);
    await look(id);
    await look(id);
    expect(told(id).slice(1)).toEqual([{ agent_type: 'default', max_iterations: 4, max_budget_per_task: null, version: 3, epoch: 1 }]);
  });

  it('holds as far as the agent takes it, keeps no message waiting, and is said again before the next one', async () => {
    const { id, message } = await harness.create();
    await harness.start(id);
    const session = harness.peers.sessions.get(id);
    if (session === undefined) throw new Error('it has no session');
    session.refusesTerms = (terms) => terms['agent_type'] === 'plan';
    await change(id, 'plan', 6, '1.5');
    await look(id);
    const said = { version: 1, epoch: 1 };
    expect(told(id).slice(1)).toEqual([
      { max_iterations: 6, ...said },
      { max_budget_per_task: 1.5, ...said },
    ]);
    expect(await harness.jobs(id)).toEqual([]);
    delete session.refusesTerms;
    const next = await harness.send(id, 'plan it');
    await look(id);
    expect(told(id).at(-1)).toEqual({ agent_type: 'plan', max_iterations: 6, max_budget_per_task: 1.5, ...said });
    expect(harness.peers.messagesOf(id)).toEqual([message, next]);
    const times = told(id).length;
    await look(id);
    expect(told(id)).toHaveLength(times);
  });

  it('has the installation’s steps at most', async () => {
    const { id } = await harness.create();
    await change(id, 'default', 90_000, null);
    await harness.start(id);
    expect(told(id)).toEqual([{ agent_type: 'default', max_iterations: 10, max_budget_per_task: null }]);
  });

  it('is told with what the organization keeps in its own hands, and as strictly as can be where that cannot be read', async () => {
    const settings = (value: object): Promise<unknown> =>
      inOrg(harness.pool, ORG, (client) =>
        client.query(
          "INSERT INTO app.org (id, slug, name, kind, settings) VALUES ($1, 'brake', 'O', 'company', $2) ON CONFLICT (id) DO UPDATE SET settings = excluded.settings",
          [ORG, JSON.stringify(value)],
        ),
      );
    const heard = async (value: object): Promise<unknown> => {
      await settings(value);
      const { id } = await harness.create();
      await harness.start(id);
      return harness.peers.sessions.get(id)?.sandbox?.brake;
    };
    expect(await heard({})).toEqual({ floor: 'never', fourEyes: false });
    expect(await heard({ confirmation: 'risky', fourEyes: true })).toEqual({ floor: 'risky', fourEyes: true });
    expect(await heard({ confirmation: 'sometimes', fourEyes: 'perhaps' })).toEqual({ floor: 'always', fourEyes: true });
    await settings({});
  });
});
