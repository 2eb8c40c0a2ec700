import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inOrg } from '@slipway/db/sql';
import { type Harness, ORG, openHarness } from '../testing/harness.js';

/**
 * Goes in 0.2.0, with the aliases of `libs/contracts/src/agent/earlier-settings.ts` and the trigger
 * `conversation_mirror_earlier_settings`.
 */
describe('settings beside replicas and sandboxes of the release before', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await openHarness();
    await inOrg(harness.pool, ORG, (client) =>
      client.query("INSERT INTO app.org (id, slug, name, kind) VALUES ($1, 'org', 'O', 'company')", [ORG]),
    );
  });
  afterAll(() => harness?.close());

  const sql = (text: string, values: unknown[]) => inOrg(harness.pool, ORG, (client) => client.query(text, values));
  const look = async (id: string): Promise<void> => {
    await harness.addJob('conversation-deliver', id);
    await harness.start(id);
  };
  const sessionOf = (id: string) => {
    const session = harness.peers.sessions.get(id);
    if (session === undefined) throw new Error('it has no session');
    return session;
  };
  const running = async (): Promise<string> => {
    const { id } = await harness.create();
    await harness.start(id);
    return id;
  };
  /** What a worker of the release before compares. */
  const earlierView = async (id: string) => {
    const { rows } = await sql(
      `SELECT checkpoint ->> 'terms' = app.terms_of_conversation(agent_type, max_iterations, max_budget_usd)
           AND (checkpoint ->> 'termsVersion')::int = terms_version AS "runSettings",
         (checkpoint ->> 'brakeVersion')::int = confirmation_version + (SELECT settings_version FROM app.org o WHERE o.id = org_id) AS confirmation,
         terms_version AS "termsVersion", confirmation_version AS "confirmationVersion"
       FROM app.conversation WHERE id = $1`,
      [id],
    );
    return rows[0];
  };

  it('reach an earlier agent-server by its three routes, the confirmation policy first, once', async () => {
    const id = await running();
    sessionOf(id).isEarlier = true;
    await sql(
      `UPDATE app.conversation SET agent_type = 'plan', max_iterations = 7, confirmation_mode = 'always', model = 'gpt' WHERE id = $1`,
      [id],
    );
    for (let time = 0; time < 2; time += 1) await look(id);
    const ordered = { version: 1, epoch: 1 };
    expect(sessionOf(id).sandbox?.earlier).toMatchObject([
      {
        route: 'brake',
        body: {
          policy: { kind: 'AlwaysConfirm' },
          brake: { floor: 'never', fourEyes: false },
          chosen: false,
          version: 2,
          epoch: 1,
        },
      },
      { route: 'terms', body: { max_iterations: 7, ...ordered } },
      { route: 'terms', body: { max_budget_per_task: null, ...ordered } },
      { route: 'terms', body: { agent_type: 'plan', ...ordered } },
      { route: 'switch_llm', body: { llm: { model: 'gpt' } } },
    ]);
    expect(await harness.jobs(id)).toEqual([]);
  });

  it('that an earlier agent-server refuses keep nothing else and no message waiting', async () => {
    const id = await running();
    Object.assign(sessionOf(id), { isEarlier: true, refusesAgentType: true });
    await sql(`UPDATE app.conversation SET agent_type = 'plan', max_iterations = 7 WHERE id = $1`, [id]);
    const next = await harness.send(id, 'go on');
    await look(id);
    expect(sessionOf(id).sandbox?.earlier.map(({ route }) => route)).toEqual(['brake', 'terms', 'terms']);
    expect([harness.peers.messagesOf(id).at(-1), await harness.jobs(id)]).toEqual([next, []]);
  });

  it('are known to an earlier worker as soon as the agent acknowledges them, and not before', async () => {
    const id = await running();
    expect(await earlierView(id)).toEqual({
      runSettings: true,
      confirmation: true,
      termsVersion: 0,
      confirmationVersion: 0,
    });
    await sql(`UPDATE app.conversation SET max_iterations = 7 WHERE id = $1`, [id]);
    expect(await earlierView(id)).toEqual({
      runSettings: false,
      confirmation: true,
      termsVersion: 1,
      confirmationVersion: 0,
    });
    await sql(`UPDATE app.conversation SET confirmation_mode = 'always' WHERE id = $1`, [id]);
    expect(await earlierView(id)).toEqual({
      runSettings: false,
      confirmation: false,
      termsVersion: 1,
      confirmationVersion: 1,
    });
    await look(id);
    expect(await earlierView(id)).toEqual({
      runSettings: true,
      confirmation: true,
      termsVersion: 1,
      confirmationVersion: 1,
    });
    await sql('UPDATE app.org SET settings_version = settings_version + 1 WHERE id = $1', [ORG]);
    expect(await earlierView(id)).toMatchObject({ runSettings: true, confirmation: false });
  });

  it('that an earlier app-server changes are sent, and counted once', async () => {
    const id = await running();
    await sql(
      'UPDATE app.conversation SET max_iterations = 9, agent_type = agent_type, max_budget_usd = NULL, terms_version = terms_version + 1 WHERE id = $1',
      [id],
    );
    await sql(
      `UPDATE app.conversation SET confirmation_mode = 'risky', confirmation_version = confirmation_version + 1 WHERE id = $1`,
      [id],
    );
    await look(id);
    expect(await earlierView(id)).toEqual({
      runSettings: true,
      confirmation: true,
      termsVersion: 1,
      confirmationVersion: 1,
    });
    expect(sessionOf(id).sandbox?.settings).toMatchObject([
      {
        settings: { limits: { maxIterations: 9 }, confirmation: { policy: { kind: 'ConfirmRisky' } } },
        earlierVersions: { runSettings: 1 },
      },
    ]);
  });

  it('that an earlier worker started an agent with are sent once more, since it acknowledged no version', async () => {
    const id = await running();
    await sql(`UPDATE app.conversation SET checkpoint = checkpoint - 'settingsVersion' WHERE id = $1`, [id]);
    for (let time = 0; time < 2; time += 1) await look(id);
    expect(sessionOf(id).sandbox?.settings).toHaveLength(1);
    expect(await harness.jobs(id)).toEqual([]);
  });
});
