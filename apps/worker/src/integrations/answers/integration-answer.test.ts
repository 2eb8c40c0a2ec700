import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import { SecretBox } from '@slipway/auth/secret-box';
import type { ExecutionStatus } from '@slipway/contracts';
import { createPool, inOrg, type SqlPool } from '@slipway/db/sql';
import { createIds, systemClock } from '@slipway/domain';
import { PROVIDERS, type Thread } from '@slipway/integrations';
import { ProviderDispatch } from '@slipway/integrations/dispatch';
import { createHintBus, type HintBus } from '@slipway/queue';
import { createLogger } from '@slipway/telemetry';
import type { TestDatabase } from '@slipway/testing';
import { until } from '@slipway/testing';
import { expect } from 'expect';
import fc from 'fast-check';
import pg from 'pg';
import { ConversationLog } from '../../conversations/conversation-log.js';
import { queueDatabase, SECRET } from '../../testing/scene.js';
import { ConnectionCalls } from '../connection-calls.js';
import { dyingPool } from '../testing/dying-pool.js';
import { type Fate, ScriptedForge } from '../testing/scripted-forge.js';
import { tryAgain, wantAnswer, wantSeen } from './answers.queries.js';
import { ANSWER_SETTINGS, IntegrationAnswer } from './integration-answer.js';

const ORG = 'org_answers';
const CONNECTION = '7d0c4a0e-3f1d-4c8e-9a57-2f6f4f0d7c22';
const START = Date.parse('2026-11-24T03:00:00Z');
/** A turn of a job that died is over soon. Milliseconds. */
const LEASE_MS = 150;
const logger = createLogger('answers-test', 'silent');
const never = new AbortController().signal;

describe('what a thread shows', () => {
  let database: TestDatabase;
  let pool: SqlPool;
  let owner: pg.Client;
  let hints: HintBus;
  let log: ConversationLog;
  let forge: ScriptedForge;
  let host: string;
  let dispatch: ProviderDispatch;
  let now = START;
  let threads = 0;
  const clock = { now: () => new Date(now) };
  const ids = createIds(systemClock);

  before(async () => {
    database = await queueDatabase();
    pool = createPool({ url: database.urls.app, max: 12, applicationName: 'test', onError: () => {} });
    owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    hints = createHintBus({ databaseUrl: database.urls.app, applicationName: 'test', logger });
    log = new ConversationLog(pool, hints, ids, systemClock, 'answers-test');
    forge = new ScriptedForge(() => now);
    host = await forge.start();
    dispatch = new ProviderDispatch([host]);
    await owner.query(`INSERT INTO app.org (id, slug, name, kind) VALUES ($1, 'answers', 'Answers', 'personal')`, [ORG]);
    await owner.query(
      `INSERT INTO app.integration_connection (id, org_id, provider, kind, name, host, signature, own, settings, created_by, created_by_label)
       VALUES ($1, $2, 'gitea', 'token', 'n', $3, 'sha256', '{"ids":[],"mention":"slipway"}', $4, 'u', 'u')`,
      [CONNECTION, ORG, host, JSON.stringify({ baseUrl: `http://${host}` })],
    );
    const place = { id: 'secret-1', connectionId: CONNECTION, kind: 'token' };
    const { bytes, keyVersion } = await new Envelope(pool, new SecretBox(SECRET), systemClock).seal(ORG, 'tok-1', integrationSecretContext(place));
    await owner.query('INSERT INTO app.integration_secret (id, org_id, connection_id, kind, sealed, key_version) VALUES ($1, $2, $3, $4, $5, $6)', [
      place.id,
      ORG,
      CONNECTION,
      place.kind,
      bytes,
      keyVersion,
    ]);
  });
  after(async () => {
    await dispatch?.close();
    forge?.close();
    await hints?.close();
    await pool?.end();
    await owner?.end();
    await database?.close();
  });
  beforeEach(async () => {
    [now, forge.fates] = [START, []];
    await owner.query(`UPDATE app.integration_connection SET state = 'active', limited_until = NULL, paced_until = NULL`);
  });

  interface Talk {
    readonly id: string;
    readonly issue: number;
    readonly thread: Thread;
  }
  /** A conversation of a new issue, as a delivery begins it. */
  const begin = async (asked: string | null = '77'): Promise<Talk> => {
    threads += 1;
    const [id, message, issue] = [randomUUID(), randomUUID(), threads];
    const thread = { key: `7#${issue}`, place: { repository: 'acme/shop', number: issue }, title: 'Total is wrong' } as unknown as Thread;
    await inOrg(pool, ORG, async (client) => {
      await client.query(`INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model) VALUES ($1, $2, 'usr_a', 'A', 'T', 'm')`, [
        id,
        ORG,
      ]);
      await client.query(
        `INSERT INTO app.inbox_message (id, org_id, conversation_id, text, created_by, created_by_label, from_thread) VALUES ($1, $2, $3, 'x', 'u', 'u', true)`,
        [message, ORG, id],
      );
      await client.query(
        `INSERT INTO app.integration_thread (connection_id, thread_key, org_id, conversation_id, place, title, confidential) VALUES ($1, $2, $3, $4, $5, 't', false)`,
        [CONNECTION, thread.key, ORG, id, JSON.stringify(thread.place)],
      );
      if (asked !== null)
        await wantSeen(client, ORG, { connectionId: CONNECTION, thread, deed: `deed ${issue}`, conversationId: id, asked: { kind: 'comment', id: asked } });
      await wantAnswer(client, ORG, id);
    });
    await started(id);
    await append(id, message, { source: 'user', llm_message: { role: 'user', content: [{ type: 'text', text: 'x' }] } });
    return { id, issue, thread };
  };
  const started = (id: string): Promise<unknown> =>
    owner.query(`UPDATE app.conversation SET status_state = '{"execution":"idle","start":"ready","halt":"none"}', status = 'waiting' WHERE id = $1`, [id]);
  const append = async (id: string, eventId: string, event: object, kind = 'MessageEvent'): Promise<void> => {
    const whole = JSON.stringify({ id: eventId, timestamp: '2026-11-24T03:00:00Z', kind, ...event });
    await inOrg(pool, ORG, (client) =>
      client.query(`SELECT * FROM app.append_events($1, $2, NULL, NULL, ARRAY[NULL]::bigint[], ARRAY[$3]::uuid[], ARRAY[$4], ARRAY[$5], '{}')`, [
        ORG,
        id,
        eventId,
        kind,
        whole,
      ]),
    );
  };
  const says = (id: string, text: string): Promise<void> =>
    append(id, randomUUID(), { source: 'agent', llm_message: { role: 'assistant', content: [{ type: 'text', text }] } });
  const becomes = async (id: string, status: ExecutionStatus): Promise<void> => {
    await log.write(ORG, id, null, () => ({ events: [{ kind: 'execution-status', status }] }));
  };
  const jobOn = (own: SqlPool, settings: Partial<typeof ANSWER_SETTINGS> = {}): IntegrationAnswer =>
    new IntegrationAnswer(
      own,
      new Map(Object.entries(PROVIDERS)),
      new ConnectionCalls(own, new Envelope(own, new SecretBox(SECRET), systemClock), dispatch, clock),
      clock,
      { ...ANSWER_SETTINGS, leaseMs: LEASE_MS, unknownMs: 0, publicUrl: 'https://slipway.test', ...settings },
      logger,
    );
  const run = (id: string, own: SqlPool = pool): Promise<number | null> => jobOn(own).run({ orgId: ORG, conversationId: id }, never);
  /** As the outbox brings the job, until nothing is left; time goes on by what it is to wait. */
  const settle = (id: string): Promise<unknown> =>
    until(
      'everything is shown',
      async () => {
        const wait = await run(id);
        if (wait !== null && wait > LEASE_MS + 1) now += wait;
        return wait === null;
      },
      30_000,
    );
  const shownOn = (talk: Talk): string[] => forge.ofIssue(talk.issue).map(({ body }) => body);
  const wanted = async (id: string): Promise<number> =>
    (await owner.query(`SELECT 1 FROM app.outbox WHERE queue = 'integration-answer' AND key = $1`, [id])).rowCount ?? 0;
  const row = async (talk: Talk): Promise<{ state: string; problem: string | null; external_id: string | null }> =>
    (await owner.query(`SELECT state, problem, external_id FROM app.thread_answer WHERE thread_key = $1 AND kind = 'progress'`, [talk.thread.key])).rows[0];

  it('is eyes on what asked, then one comment that is edited until the run ends', async () => {
    const talk = await begin();
    await becomes(talk.id, 'running');
    expect(await run(talk.id)).toBe(null);
    expect(forge.reactions).toContain('issues/comments 77');
    expect(forge.calls.slice(-2)).toEqual([
      'POST /api/v1/repos/acme/shop/issues/comments/77/reactions',
      `POST /api/v1/repos/acme/shop/issues/${talk.issue}/comments`,
    ]);
    const link = `[Open the conversation](https://slipway.test/answers/conversations/${talk.id})`;
    expect(shownOn(talk)).toEqual([expect.stringMatching(/^<!-- slipway:[0-9a-f]{32} -->\nSlipway is working on this\.\n\n/)]);
    await becomes(talk.id, 'waiting_for_confirmation');
    await run(talk.id);
    expect(shownOn(talk)[0]).toContain('waits for approval');
    await becomes(talk.id, 'running');
    await says(talk.id, 'The total was **never** added.');
    await becomes(talk.id, 'finished');
    await run(talk.id);
    expect(shownOn(talk)).toEqual([expect.stringMatching(/Slipway has finished\. It says:\n\n> The total was \*\*never\*\* added\.\n\n/)]);
    expect(shownOn(talk)[0]).toContain(link);
    expect(await wanted(talk.id)).toBe(0);
  });

  it('changes at most once in 15 s while the agent works, and at once when a person is needed', async () => {
    const talk = await begin();
    expect(await run(talk.id)).toBe(null);
    await becomes(talk.id, 'running');
    const wait = (await run(talk.id)) ?? 0;
    expect([wait > 14_000 && wait <= 15_000, shownOn(talk)[0]?.includes('waits for a message')]).toEqual([true, true]);
    const { rows } = await owner.query(
      `SELECT enqueued_at > now() + interval '8 seconds' AS later FROM app.outbox WHERE key = $1 AND queue = 'integration-answer'`,
      [talk.id],
    );
    expect(rows).toEqual([{ later: true }]);
    await becomes(talk.id, 'waiting_for_confirmation');
    // Something new: the outbox waits no more.
    expect((await owner.query(`SELECT enqueued_at < now() AS due FROM app.outbox WHERE key = $1 AND queue = 'integration-answer'`, [talk.id])).rows).toEqual([
      { due: true },
    ]);
    expect(await run(talk.id)).toBe(null);
    expect(shownOn(talk)[0]).toContain('waits for approval');
    const calls = forge.calls.length;
    expect(await run(talk.id)).toBe(null);
    expect(forge.calls.length).toBe(calls);
  });

  it('is wanted by a change of state in threads alone, and again by a run that begins and ends in one batch', async () => {
    const talk = await begin();
    await says(talk.id, 'First.');
    await becomes(talk.id, 'running');
    await becomes(talk.id, 'finished');
    await settle(talk.id);
    await says(talk.id, 'Second.');
    expect(await wanted(talk.id)).toBe(1);
    await settle(talk.id);
    expect(shownOn(talk)).toEqual([expect.stringContaining('> Second.')]);
    await owner.query('DELETE FROM app.integration_thread WHERE conversation_id = $1', [talk.id]);
    await becomes(talk.id, 'running');
    expect(await wanted(talk.id)).toBe(0);
  });

  it('holds no answer to what a member has asked on our own pages', async () => {
    const talk = await begin();
    await append(talk.id, randomUUID(), { source: 'user', llm_message: { role: 'user', content: [{ type: 'text', text: 'Which keys do we have?' }] } });
    await says(talk.id, 'The keys are in the vault.');
    await becomes(talk.id, 'running');
    await becomes(talk.id, 'finished');
    await settle(talk.id);
    expect(shownOn(talk)).toEqual([expect.stringContaining('Slipway has finished.\n')]);
    expect(shownOn(talk)[0]).not.toContain('vault');
  });

  it('names a failure by its title and next step, and never by its detail', async () => {
    const talk = await begin();
    await log.write(ORG, talk.id, null, () => ({
      events: [
        { kind: 'error', code: 'budget.exhausted', detail: 'olga@acme.test has spent 12 USD' },
        { kind: 'execution-status', status: 'error' },
      ],
    }));
    await settle(talk.id);
    expect(shownOn(talk)[0]).toMatch(/Slipway could not finish\. .*\. .*\./);
    expect(shownOn(talk)[0]).not.toContain('olga');
  });

  it('comes when the provider says, where it limits calls; no other thread of the connection calls it before', async () => {
    const [talk, other] = [await begin(), await begin()];
    forge.fates = [{ status: 429, headers: { 'retry-after': '90' } }];
    const calls = forge.calls.length;
    expect(await run(talk.id)).toBe(90_000);
    expect(await run(other.id)).toBe(90_000);
    expect(forge.calls.length).toBe(calls + 1);
    now += 90_001;
    expect([await run(talk.id), await run(other.id)]).toEqual([null, null]);
    forge.fates = [{ status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Math.floor(now / 1000) + 40) } }];
    await becomes(talk.id, 'waiting_for_confirmation');
    const wait = (await run(talk.id)) ?? 0;
    expect(wait > 38_000 && wait <= 41_000).toBe(true);
    expect(await row(talk)).toMatchObject({ state: 'waiting', problem: 'The provider limits our calls.' });
  });

  it('after an hour of the provider’s absence comes without a burst', async () => {
    const talks: Talk[] = [];
    for (let many = 0; many < 8; many += 1) talks.push(await begin(null));
    await owner.query(`UPDATE app.integration_connection SET paced_until = $1`, [new Date(now + 100 * 200 - 3 * 200)]);
    const waits = [];
    for (const talk of talks) waits.push(await run(talk.id));
    expect(waits.slice(0, 4)).toEqual([null, null, null, null]);
    expect(waits.slice(4)).toEqual([200, 200, 200, 200]);
  });

  it('is given up after 24 hours with its reason, and tried again by the next request', async () => {
    const talk = await begin(null);
    for (const [at, left] of [
      [0, true],
      [60_000, true],
      [25 * 3_600_000, false],
    ] as const) {
      forge.fates = [{ status: 503 }];
      now = START + at;
      expect([at, (await run(talk.id)) !== null]).toEqual([at, left]);
    }
    expect(await row(talk)).toMatchObject({ state: 'given-up', problem: `${host} does not answer (503).` });
    await inOrg(pool, ORG, (client) => tryAgain(client, ORG, talk.id));
    await settle(talk.id);
    expect(shownOn(talk)).toHaveLength(1);
  });

  it('calls nobody with a token that is refused, until there is another', async () => {
    const talk = await begin(null);
    forge.fates = [{ status: 401 }];
    await run(talk.id);
    expect((await owner.query('SELECT state FROM app.integration_connection')).rows).toEqual([{ state: 'needs-attention' }]);
    const calls = forge.calls.length;
    now += 3_600_000;
    expect(await run(talk.id)).toBe(300_000);
    expect(forge.calls.length).toBe(calls);
    expect((await row(talk)).problem).toContain('Enter a new one');
    await owner.query(`UPDATE app.integration_connection SET state = 'active'`);
    await settle(talk.id);
    expect(shownOn(talk)).toHaveLength(1);
  });

  it('is left alone once somebody has deleted it, until there is a new request', async () => {
    const talk = await begin(null);
    await run(talk.id);
    forge.comments.splice(
      forge.comments.findIndex((each) => each.issue === talk.issue),
      1,
    );
    await becomes(talk.id, 'waiting_for_confirmation');
    await settle(talk.id);
    expect([await row(talk), shownOn(talk)]).toEqual([expect.objectContaining({ state: 'given-up', external_id: null }), []]);
    await inOrg(pool, ORG, (client) => tryAgain(client, ORG, talk.id));
    await settle(talk.id);
    expect(shownOn(talk)).toHaveLength(1);
  });

  it('adversary: who copies our marker into a comment of their own does not get it edited', async () => {
    const talk = await begin(null);
    forge.fates = ['unanswered'];
    await run(talk.id);
    const [ours] = forge.ofIssue(talk.issue);
    const copy = { id: 99_999, issue: talk.issue, body: `mine ${ours?.body}`, createdAt: now };
    forge.comments.push(copy);
    await becomes(talk.id, 'waiting_for_confirmation');
    await settle(talk.id);
    expect([ours?.body.includes('waits for approval'), copy.body.startsWith('mine ')]).toEqual([true, true]);
    expect(forge.ofIssue(talk.issue)).toHaveLength(2);
  });

  const wasKilled = (error: unknown): boolean => error instanceof Error && (error.message === 'killed' || wasKilled(error.cause));
  const STATES = ['running', 'waiting_for_confirmation', 'finished', 'error', 'paused'] as const satisfies readonly ExecutionStatus[];
  const expectOne = async (talk: Talk, last: ExecutionStatus | null): Promise<void> => {
    const words = {
      running: 'working',
      waiting_for_confirmation: 'approval',
      finished: 'has finished',
      error: 'could not finish',
      paused: 'waits for a message',
    };
    expect(shownOn(talk)).toEqual([expect.stringContaining(last === null ? 'waits for a message' : words[last as keyof typeof words])]);
    expect(forge.reactions.filter((each) => each === `issues/comments ${talk.issue}`)).toHaveLength(1);
    expect(await wanted(talk.id)).toBe(0);
  };

  it('is one comment, with the last state, wherever a worker is killed', { timeout: 120_000 }, async () => {
    for (const fate of ['well', 'unanswered'] as const) {
      for (let dies = 0; ; dies += 1) {
        const talk = await begin(String(threads + 1));
        await becomes(talk.id, 'running');
        forge.fates = ['well', fate];
        const died = await run(talk.id, dyingPool(pool, dies)).then(() => false, wasKilled);
        forge.fates = [];
        await becomes(talk.id, 'finished');
        await settle(talk.id);
        await expectOne(talk, 'finished');
        if (!died) {
          expect(dies).toBeGreaterThan(10);
          break;
        }
      }
    }
  });

  it('whatever is repeated, overlaps, is killed or lost is one comment a thread, and its last text that of the last state', { timeout: 300_000 }, async () => {
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
        const talk = await begin(String(threads + 1));
        let last: ExecutionStatus | null = null;
        for (const { state, fates, jobs, passes } of turns) {
          if (state !== null) {
            last = state;
            await becomes(talk.id, state);
          }
          forge.fates = [...fates];
          now += passes;
          await Promise.all(
            jobs.map((dies) =>
              run(talk.id, dies === null ? pool : dyingPool(pool, dies)).catch((error: unknown) => {
                if (!wasKilled(error)) throw error;
              }),
            ),
          );
        }
        forge.fates = [];
        await settle(talk.id);
        await expectOne(talk, last);
      }),
      { numRuns: 40 },
    );
  });
});
