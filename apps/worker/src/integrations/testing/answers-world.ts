import { randomUUID } from 'node:crypto';
import { Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import { SecretBox } from '@slipway/auth/secret-box';
import type { ExecutionStatus } from '@slipway/contracts/events';
import { createPool, inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import { createIds, systemClock } from '@slipway/domain';
import { PROVIDERS, type Thread } from '@slipway/integrations';
import { ConnectionCredentials } from '@slipway/integrations/credentials';
import type { StoredDelivery } from '@slipway/integrations/deliveries';
import { ProviderDispatch } from '@slipway/integrations/dispatch';
import { createHintBus, type HintBus } from '@slipway/queue';
import { createLogger } from '@slipway/telemetry';
import { type TestDatabase, until } from '@slipway/testing';
import pg from 'pg';
import { ConversationLog } from '../../conversations/conversation-log.js';
import { queueDatabase, SECRET } from '../../testing/harness.js';
import { wantAnswer, wantSeen } from '../answers/answers.queries.js';
import { ANSWER_SETTINGS, IntegrationAnswer } from '../answers/integration-answer.js';
import { wantReplies } from '../answers/replies.queries.js';
import { ConnectionCalls } from '../connection-calls.js';
import { ScriptedForge } from './scripted-forge.js';

export const ORG = 'org_answers';
export const CONNECTION = '7d0c4a0e-3f1d-4c8e-9a57-2f6f4f0d7c22';
export const START = Date.parse('2026-11-24T03:00:00Z');
/** A turn of a job that died is over soon. Milliseconds. */
const LEASE_MS = 150;
const logger = createLogger('answers-test', 'silent');
export const never: AbortSignal = new AbortController().signal;

/** A conversation of a new issue. */
export interface Talk {
  readonly id: string;
  readonly issue: number;
  readonly thread: Thread;
}

/**
 * The job that answers in threads, on a real database, with a git host over HTTP whose connection fails as a test says,
 * and a clock that stands until it is set.
 */
export class AnswersWorld {
  readonly forge = new ScriptedForge(() => this.now);
  now = START;
  /** Issues so far; the next has one more. */
  issues = 0;

  private constructor(
    readonly database: TestDatabase,
    readonly pool: SqlPool,
    readonly owner: pg.Client,
    private readonly hints: HintBus,
    readonly log: ConversationLog,
  ) {}

  host = '';
  private dispatch = new ProviderDispatch([]);

  static async open(): Promise<AnswersWorld> {
    const database = await queueDatabase();
    const pool = createPool({ url: database.urls.app, max: 12, applicationName: 'test', onError: () => {} });
    const owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    const hints = createHintBus({ databaseUrl: database.urls.app, applicationName: 'test', logger });
    const log = new ConversationLog(pool, hints, createIds(systemClock), systemClock, 'answers-test');
    const world = new AnswersWorld(database, pool, owner, hints, log);
    await world.connect();
    return world;
  }

  private async connect(): Promise<void> {
    this.host = await this.forge.start();
    this.dispatch = new ProviderDispatch([this.host]);
    await this.owner.query(`INSERT INTO app.org (id, slug, name, kind) VALUES ($1, 'answers', 'Answers', 'personal')`, [
      ORG,
    ]);
    await this.owner.query(
      `INSERT INTO app.integration_connection (id, org_id, provider, kind, name, host, signature, own, settings, created_by, created_by_label)
       VALUES ($1, $2, 'gitea', 'token', 'n', $3, 'sha256', '{"ids":[],"mention":"slipway"}', $4, 'u', 'u')`,
      [CONNECTION, ORG, this.host, JSON.stringify({ baseUrl: `http://${this.host}` })],
    );
    const place = { id: 'secret-1', connectionId: CONNECTION, kind: 'token' };
    const { bytes, keyVersion } = await this.envelope(this.pool).seal(ORG, 'tok-1', integrationSecretContext(place));
    await this.owner.query(
      'INSERT INTO app.integration_secret (id, org_id, connection_id, kind, sealed, key_version) VALUES ($1, $2, $3, $4, $5, $6)',
      [place.id, ORG, CONNECTION, place.kind, bytes, keyVersion],
    );
  }

  /** As if nothing had failed yet. */
  async reset(): Promise<void> {
    this.now = START;
    this.forge.fates = [];
    await this.owner.query(
      `UPDATE app.integration_connection SET state = 'active', limited_until = NULL, paced_until = NULL`,
    );
  }

  async close(): Promise<void> {
    this.forge.close();
    await Promise.all([this.dispatch.close(), this.hints.close(), this.pool.end(), this.owner.end()]);
    await this.database.close();
  }

  private envelope(pool: SqlPool): Envelope {
    return new Envelope(pool, new SecretBox(SECRET), systemClock);
  }

  /** As a delivery begins it. @param asked the comment that asked; `null`: none is reacted to. */
  async begin(asked: string | null = '77'): Promise<Talk> {
    this.issues += 1;
    const [id, message, issue] = [randomUUID(), randomUUID(), this.issues];
    const thread = {
      key: `7#${issue}`,
      place: { repository: 'acme/shop', number: issue },
      title: 'Total is wrong',
    } as unknown as Thread;
    await inOrg(this.pool, ORG, async (client) => {
      await client.query(
        `INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model) VALUES ($1, $2, 'usr_a', 'A', 'T', 'm')`,
        [id, ORG],
      );
      await addMessageOf(client, id, message, thread.key);
      await addThread(client, id, thread);
      if (asked !== null)
        await wantSeen(client, ORG, {
          connectionId: CONNECTION,
          thread,
          deed: `deed ${issue}`,
          conversationId: id,
          asked: { kind: 'comment', id: asked },
        });
      await wantAnswer(client, ORG, id);
    });
    await this.owner.query(
      `UPDATE app.conversation SET status_state = '{"execution":"idle","start":"ready","halt":"none"}', status = 'waiting' WHERE id = $1`,
      [id],
    );
    await this.asks(id, message);
    return { id, issue, thread };
  }

  /** A user's message reaches the agent; one that no inbox knows when no id is given. */
  asks(id: string, message: string = randomUUID()): Promise<void> {
    return this.append(id, message, {
      source: 'user',
      llm_message: { role: 'user', content: [{ type: 'text', text: 'x' }] },
    });
  }

  /** A message of a thread reaches the agent. @param comments line comments that asked for it. */
  async asksInThread({ id, thread }: Pick<Talk, 'id' | 'thread'>, comments: readonly string[] = []): Promise<void> {
    const message = randomUUID();
    const stored = { orgId: ORG, connection: { id: CONNECTION } } as StoredDelivery;
    await inOrg(this.pool, ORG, async (client) => {
      await addMessageOf(client, id, message, thread.key);
      const asked = comments.map((comment) => ({ id: comment, threadOf: comment }));
      await wantReplies(client, stored, { thread, comments: asked, to: { conversationId: id, message } });
    });
    await this.asks(id, message);
  }

  /** One more thread of the conversation, as its pull request is. */
  async alsoIn({ id }: Talk): Promise<Talk> {
    this.issues += 1;
    const thread = {
      key: `7#${this.issues}`,
      place: { repository: 'acme/shop', number: this.issues },
      title: 'Add the total',
    } as unknown as Thread;
    await inOrg(this.pool, ORG, (client) => addThread(client, id, thread));
    return { id, issue: this.issues, thread };
  }

  says(id: string, text: string): Promise<void> {
    return this.append(id, randomUUID(), {
      source: 'agent',
      llm_message: { role: 'assistant', content: [{ type: 'text', text }] },
    });
  }

  async becomes(id: string, status: ExecutionStatus): Promise<void> {
    await this.log.write(ORG, id, null, () => ({ events: [{ kind: 'execution-status', status }] }));
  }

  private async append(id: string, eventId: string, event: object): Promise<void> {
    const whole = JSON.stringify({ id: eventId, timestamp: '2026-11-24T03:00:00Z', kind: 'MessageEvent', ...event });
    await inOrg(this.pool, ORG, (client) =>
      client.query(
        `SELECT * FROM app.append_events($1, $2, NULL, NULL, ARRAY[NULL]::bigint[], ARRAY[$3]::uuid[], ARRAY['MessageEvent'], ARRAY[$4], '{}')`,
        [ORG, id, eventId, whole],
      ),
    );
  }

  job(pool: SqlPool = this.pool): IntegrationAnswer {
    const clock = { now: () => new Date(this.now) };
    const calls = new ConnectionCalls(new ConnectionCredentials(pool, this.envelope(pool)), this.dispatch, clock);
    const settings = { ...ANSWER_SETTINGS, leaseMs: LEASE_MS, unknownMs: 0, publicUrl: 'https://slipway.test' };
    return new IntegrationAnswer(pool, new Map(Object.entries(PROVIDERS)), calls, clock, settings, logger);
  }

  run(id: string, pool?: SqlPool): Promise<number | null> {
    return this.job(pool).run({ orgId: ORG, conversationId: id }, never);
  }

  /** As the outbox brings the job, until nothing is left; time goes on by what it is to wait. */
  async settle(id: string): Promise<void> {
    await until(
      'everything is shown',
      async () => {
        const wait = await this.run(id);
        if (wait !== null && wait > LEASE_MS + 1) this.now += wait;
        return wait === null;
      },
      30_000,
    );
  }

  shownOn(talk: Talk): string[] {
    return this.forge.ofIssue(talk.issue).map(({ body }) => body);
  }

  async wanted(id: string): Promise<number> {
    return (
      (await this.owner.query(`SELECT 1 FROM app.outbox WHERE queue = 'integration-answer' AND key = $1`, [id]))
        .rowCount ?? 0
    );
  }

  async row(talk: Talk): Promise<{ state: string; problem: string | null; external_id: string | null }> {
    return (
      await this.owner.query(
        `SELECT state, problem, external_id FROM app.thread_answer WHERE thread_key = $1 AND kind = 'progress'`,
        [talk.thread.key],
      )
    ).rows[0];
  }
}

async function addThread(client: PoolClient, conversationId: string, thread: Thread): Promise<void> {
  await client.query(
    `INSERT INTO app.integration_thread (connection_id, thread_key, org_id, conversation_id, place, title, confidential) VALUES ($1, $2, $3, $4, $5, 't', false)`,
    [CONNECTION, thread.key, ORG, conversationId, JSON.stringify(thread.place)],
  );
}

async function addMessageOf(client: PoolClient, conversationId: string, id: string, key: string): Promise<void> {
  await client.query(
    `INSERT INTO app.inbox_message (id, org_id, conversation_id, text, created_by, created_by_label, from_thread, thread_connection_id, thread_key)
     VALUES ($1, $2, $3, 'x', 'u', 'u', true, $4, $5)`,
    [id, ORG, conversationId, CONNECTION, key],
  );
}
