import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inOrg } from '@slipway/db/sql';
import { type Harness, ORG, openHarness } from '../testing/harness.js';

describe('the run settings of a conversation', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await openHarness();
  });
  afterAll(() => harness.close());

  const atStart = (id: string) => harness.peers.sessions.get(id)?.sandbox?.startSettings;
  const sent = (id: string) =>
    (harness.peers.sessions.get(id)?.sandbox?.settings ?? []).map(
      ({ settings: { agentType, limits }, version, epoch }) => ({
        ...{ agentType, ...limits },
        ...{ version, epoch },
      }),
    );
  /** As app-server stores a change. */
  const change = (id: string, type: string, steps: number | null, budget: string | null): Promise<unknown> =>
    inOrg(harness.pool, ORG, (client) =>
      client.query(
        'UPDATE app.conversation SET agent_type = $2, max_iterations = $3, max_budget_usd = $4::numeric WHERE id = $1',
        [id, type, steps, budget],
      ),
    );
  const look = async (id: string): Promise<void> => {
    await harness.addJob('conversation-deliver', id);
    await harness.start(id);
  };

  it('come with the start, below the ceiling of the installation, and once more for each change that came meanwhile', async () => {
    const { id, message } = await harness.create();
    await change(id, 'plan', 4, '2.50');
    await harness.start(id);
    expect([atStart(id), sent(id)]).toEqual([{ agent_type: 'plan', max_iterations: 4, max_budget_per_task: 2.5 }, []]);
    await change(id, 'default', null, null);
    const next = await harness.send(id, 'carry it out');
    await harness.start(id);
    await look(id);
    expect(sent(id)).toEqual([{ agentType: 'default', maxIterations: null, maxBudgetUsd: null, version: 2, epoch: 1 }]);
    expect(harness.peers.messagesOf(id)).toEqual([message, next]);
    expect((await harness.row(id)).attempt).toBe(1);
  });

  it('are sent once more when they are the same again but changed in between, since which of them the agent has is unknown', async () => {
    const { id } = await harness.create();
    await change(id, 'default', 4, null);
    await harness.start(id);
    await change(id, 'default', 5, null);
    await change(id, 'default', 4, null);
    await look(id);
    await look(id);
    expect(sent(id)).toEqual([{ agentType: 'default', maxIterations: 4, maxBudgetUsd: null, version: 3, epoch: 1 }]);
  });

  it('hold as far as the agent takes them, keep no message waiting, and are sent again before the next one', async () => {
    const { id, message } = await harness.create();
    await harness.start(id);
    const session = harness.peers.sessions.get(id);
    if (session === undefined) throw new Error('it has no session');
    session.refusesAgentType = true;
    await change(id, 'plan', 6, '1.5');
    await look(id);
    const plan = { agentType: 'plan', maxIterations: 6, maxBudgetUsd: 1.5, version: 1, epoch: 1 };
    expect(sent(id)).toEqual([plan]);
    expect(await harness.jobs(id)).toEqual([]);
    session.refusesAgentType = false;
    const next = await harness.send(id, 'plan it');
    await look(id);
    expect(sent(id)).toEqual([plan, plan]);
    expect(harness.peers.messagesOf(id)).toEqual([message, next]);
    await look(id);
    expect(sent(id)).toHaveLength(2);
  });

  it('have the installation’s steps at most', async () => {
    const { id } = await harness.create();
    await change(id, 'default', 90_000, null);
    await harness.start(id);
    expect(atStart(id)).toEqual({ agent_type: 'default', max_iterations: 10, max_budget_per_task: null });
  });

  it('come with the organization’s confirmation policy, as strict as can be where that cannot be read', async () => {
    const settings = (value: object): Promise<unknown> =>
      inOrg(harness.pool, ORG, (client) =>
        client.query(
          "INSERT INTO app.org (id, slug, name, kind, settings) VALUES ($1, 'org', 'O', 'company', $2) ON CONFLICT (id) DO UPDATE SET settings = excluded.settings",
          [ORG, JSON.stringify(value)],
        ),
      );
    const policyFor = async (value: object): Promise<unknown> => {
      await settings(value);
      const { id } = await harness.create();
      await harness.start(id);
      return harness.peers.sessions.get(id)?.sandbox?.orgConfirmation;
    };
    expect(await policyFor({})).toEqual({ floor: 'never', fourEyes: false });
    expect(await policyFor({ confirmation: 'risky', fourEyes: true })).toEqual({ floor: 'risky', fourEyes: true });
    expect(await policyFor({ confirmation: 'sometimes', fourEyes: 'perhaps' })).toEqual({
      floor: 'always',
      fourEyes: true,
    });
    await settings({});
  });
});
