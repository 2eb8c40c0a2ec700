import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AppliedSettings, ApplySettings } from '@slipway/contracts/agent';
import { type Conversation, type UpdateRunSettings } from '@slipway/contracts/conversations';
import { until } from '@slipway/testing';
import fc from 'fast-check';
import { ConversationApp, type User } from '../../testing/conversation-app.js';

/** What the sandbox does with one message: when it takes it, and whether it answers. */
interface Fate {
  readonly lateMs: number;
  readonly answer: 'taken' | 'taken and broken off' | 'broken off';
}

/** agent-server's rule in a few lines: what is older than another that came before changes nothing. */
class Agent {
  applied: Partial<ApplySettings> = {};
  private newest = -1;
  plan: Fate[] = [];

  /** @returns its answer; `null`: the connection breaks off. */
  async take(request: ApplySettings): Promise<AppliedSettings | null> {
    if (request.dryRun) return { version: this.newest, refused: [] };
    const { lateMs, answer } = this.plan.shift() ?? { lateMs: 0, answer: 'taken' };
    await wait(lateMs);
    if (answer === 'broken off') return null;
    if (request.version >= this.newest) {
      this.newest = request.version;
      this.applied = request;
    }
    return answer === 'taken' ? { version: this.newest, refused: [] } : null;
  }
}

describe('the order of changes of run settings', () => {
  let app: ConversationApp;
  let ada: User;
  let server: Server;
  let agent = new Agent();
  beforeAll(async () => {
    server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', async () => {
        const answer = await agent.take(ApplySettings.parse(JSON.parse(Buffer.concat(parts).toString())));
        if (answer === null) return void response.destroy();
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    app = await ConversationApp.start();
    ada = await app.user('Ada');
  });
  afterAll(async () => {
    server?.closeAllConnections();
    await new Promise((resolve) => server?.close(resolve));
    await app?.close();
  });

  const running = async (): Promise<string> => {
    const { id } = await app.conversation(ada);
    await app.started(id, 1, {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      key: 'session-key-of-the-sandbox',
    });
    await app.owner.query(
      `UPDATE app.conversation c SET checkpoint = jsonb_build_object('settingsVersion', settings_version + (SELECT settings_version FROM app.org o WHERE o.id = org_id)) WHERE id = $1`,
      [id],
    );
    await app.owner.query('DELETE FROM app.outbox');
    return id;
  };
  const update = (id: string, change: UpdateRunSettings) =>
    app.http<Conversation>(ada, 'PATCH', app.path(ada, id, '/run-settings'), change);
  const state = async (id: string) =>
    (
      await app.owner.query<{
        steps: number | null;
        budget: string | null;
        version: number;
        acknowledged: number;
        queued: boolean;
        logged: { maxIterations: number | null } | null;
      }>(
        `SELECT max_iterations AS steps, trim_scale(max_budget_usd)::text AS budget, settings_version AS version,
           (checkpoint ->> 'settingsVersion')::int - (SELECT settings_version FROM app.org o WHERE o.id = c.org_id) AS acknowledged,
           EXISTS (SELECT 1 FROM app.outbox o WHERE o.key = c.id::text AND o.queue = 'conversation-deliver') AS queued,
           (SELECT e.event -> 'value' FROM app.event e WHERE e.conversation_id = c.id AND e.event ->> 'key' = 'run_settings' ORDER BY e.seq DESC LIMIT 1) AS logged
         FROM app.conversation c WHERE id = $1`,
        [id],
      )
    ).rows[0];

  it('however many change them at once and however late, broken off or unanswered the messages are: the agent has what was committed last, or its outbox job stands', async () => {
    const change = fc.oneof(
      fc.record({ maxIterations: fc.integer({ min: 1, max: 5 }) }),
      fc.record({ maxBudgetUsd: fc.constantFrom('1', '2.5', null) }),
      fc.record({ maxIterations: fc.integer({ min: 1, max: 5 }), maxBudgetUsd: fc.constantFrom('1', '3') }),
    );
    const fate = fc.record({
      lateMs: fc.integer({ min: 0, max: 40 }),
      answer: fc.constantFrom<Fate['answer']>('taken', 'taken', 'taken', 'taken and broken off', 'broken off'),
    });
    let agreed = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 2, maxLength: 7 }),
        fc.array(fate, { maxLength: 7 }),
        async (changes, plan) => {
          agent = new Agent();
          agent.plan = [...plan];
          const id = await running();
          const answers = await Promise.all(changes.map((each) => update(id, each)));
          expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
          const now = await state(id);
          if (now === undefined) throw new Error('it is gone');
          // The log tells the same order as the row.
          if (now.version > 0) expect(now.logged).toMatchObject({ maxIterations: now.steps, maxBudgetUsd: now.budget });
          if (now.acknowledged === now.version) {
            agreed += 1;
            if (now.version > 0)
              expect(agent.applied.settings?.limits).toEqual({
                maxIterations: now.steps,
                maxBudgetUsd: now.budget === null ? null : Number(now.budget),
              });
          } else expect(now).toMatchObject({ queued: true });
        },
      ),
      { numRuns: 40 },
    );
    expect(agreed).toBeGreaterThan(5);
  });

  it('is that of the commits: a change that is not committed reaches no agent', async () => {
    agent = new Agent();
    const id = await running();
    expect((await update(id, { maxIterations: 3 })).status).toBe(200);
    await app.owner.query(
      `ALTER TABLE app.audit_entry ADD CONSTRAINT no_run_settings CHECK (action <> 'conversation.set-run-settings') NOT VALID`,
    );
    try {
      expect((await update(id, { maxIterations: 4 })).status).toBe(500);
    } finally {
      await app.owner.query('ALTER TABLE app.audit_entry DROP CONSTRAINT no_run_settings');
    }
    expect(agent.applied).toMatchObject({ settings: { limits: { maxIterations: 3 } } });
    expect(await state(id)).toMatchObject({ steps: 3, version: 1, acknowledged: 1 });
  });

  it('is kept by an outbox job when the agent does not answer after the commit, and by the start when another one has begun meanwhile', async () => {
    agent = new Agent();
    const id = await running();
    agent.plan = [{ lateMs: 0, answer: 'broken off' }];
    expect(await update(id, { maxIterations: 7 })).toMatchObject({ status: 200, body: { maxIterations: 7 } });
    expect(await state(id)).toMatchObject({ steps: 7, version: 1, acknowledged: 0, queued: true });
    agent.plan = [{ lateMs: 300, answer: 'taken' }];
    const asked = update(id, { maxIterations: 8 });
    await until('it is committed', async () => (await state(id))?.version === 2);
    await app.owner.query(
      `UPDATE app.conversation SET epoch = 2, checkpoint = jsonb_set(checkpoint, '{settingsVersion}', to_jsonb(settings_version - 1 + (SELECT settings_version FROM app.org o WHERE o.id = org_id))) WHERE id = $1`,
      [id],
    );
    expect((await asked).status).toBe(200);
    expect(await state(id)).toMatchObject({ version: 2, acknowledged: 1, queued: true });
  });
});
