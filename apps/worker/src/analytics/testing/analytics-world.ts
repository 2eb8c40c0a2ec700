import { randomUUID } from 'node:crypto';
import { dropEventsOfOrg, dropEventsOfUser } from '@slipway/analytics';
import { PosthogSender } from '@slipway/analytics/posthog';
import type { LedgerCall } from '@slipway/contracts/conversations';
import { asSystem, createPool, type SqlPool } from '@slipway/db/sql';
import { createLogger } from '@slipway/telemetry';
import { Registry } from '@slipway/telemetry/http';
import { createTestDatabase, PosthogServer, type TestDatabase } from '@slipway/testing';
import pg from 'pg';
import { AnalyticsMetrics } from '../analytics-metrics.js';
import { EventMaker } from '../event-maker.js';
import { EventSender, type EventSenderOptions } from '../event-sender.js';

export const SECRET = 'a-secret-for-pseudonyms-of-at-least-32-characters';
/** What must never leave: planted wherever the product keeps words of users. */
export const PLANTED = {
  email: 'ada@planted.example',
  repository: 'planted/secret-plans',
  prompt: 'the planted plan of the merger',
  branch: 'planted-branch',
  name: 'Ada Planted',
};

const silent = createLogger('test', process.env['LOG_LEVEL'] ?? 'silent');
const locks = { tryLock: async () => null };

/** Times are kept to the millisecond, and what is of the yes's own counts for earlier. */
const NEXT_MILLISECOND = 'SELECT pg_sleep(0.002)';

/** A database with organizations and users, a fake PostHog over HTTP, and workers that come and go. */
export class AnalyticsWorld {
  readonly registry = new Registry();
  calls: LedgerCall[] = [];
  /** Milliseconds that workers are ahead of the wall clock. */
  ahead = 60_000;
  private readonly senders: PosthogSender[] = [];

  private constructor(
    readonly database: TestDatabase,
    readonly owner: pg.Pool,
    readonly pool: SqlPool,
    readonly posthog: PosthogServer,
    readonly metrics: AnalyticsMetrics | null = null,
  ) {
    this.metrics = new AnalyticsMetrics(pool, this.registry);
  }

  static async open(): Promise<AnalyticsWorld> {
    const database = await createTestDatabase();
    const owner = new pg.Pool({ connectionString: database.ownerUrl, max: 4 });
    const pool = createPool({ url: database.urls.app, max: 6, applicationName: 'test', onError: () => {} });
    return new AnalyticsWorld(database, owner, pool, await PosthogServer.start());
  }

  async close(): Promise<void> {
    for (const sender of this.senders) await sender.close();
    await this.posthog.close();
    await this.pool.end();
    await this.owner.end();
    await this.database.close();
  }

  /** A user with an organization of their own. */
  async signUp(org = `org_${randomUUID()}`, user = `usr_${randomUUID()}`): Promise<{ org: string; user: string }> {
    await this.owner.query(
      `INSERT INTO app.user_account (id, issuer, subject, name, email) VALUES ($1, 'i', $1, $2, $3)`,
      [user, PLANTED.name, PLANTED.email],
    );
    await this.owner.query(`INSERT INTO app.org (id, slug, name, kind) VALUES ($1, $1, $2, 'company')`, [
      org,
      PLANTED.name,
    ]);
    await this.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'owner')`, [org, user]);
    return { org, user };
  }

  async allowOrg(org: string, allowed: boolean): Promise<void> {
    await asSystem(this.pool, 'slipway_app_system', 'test', async (client) => {
      await client.query(
        'UPDATE app.org SET analytics_since = CASE WHEN $2 THEN coalesce(analytics_since, clock_timestamp()) END WHERE id = $1',
        [org, allowed],
      );
      if (!allowed) await dropEventsOfOrg(client, org);
      else await client.query(NEXT_MILLISECOND);
    });
  }

  async allowUser(user: string, allowed: boolean): Promise<void> {
    await asSystem(this.pool, 'slipway_app_system', 'test', async (client) => {
      await client.query(
        'UPDATE app.user_account SET analytics_since = CASE WHEN $2 THEN coalesce(analytics_since, clock_timestamp()) END WHERE id = $1',
        [user, allowed],
      );
      if (!allowed) await dropEventsOfUser(client, user);
      else await client.query(NEXT_MILLISECOND);
    });
  }

  async refuseByBrowser(user: string, refuses: boolean): Promise<void> {
    await this.owner.query(
      `INSERT INTO app.session (id, user_id, tokens, access_expires_at, expires_at, refuses_tracking) VALUES ($1, $1, '\\x00', now(), now() + interval '1 day', $2)
       ON CONFLICT (id) DO UPDATE SET refuses_tracking = excluded.refuses_tracking`,
      [user, refuses],
    );
  }

  async audit(org: string, user: string, action: string, detail: object = {}, target = 'x'): Promise<void> {
    await this.owner.query(
      `INSERT INTO app.audit_entry (id, org_id, actor_kind, actor_id, actor_label, action, target, detail, created_at) VALUES (gen_random_uuid(), $1, 'user', $2, $3, $4, $5, $6, clock_timestamp())`,
      [org, user, PLANTED.name, action, target, JSON.stringify({ ...detail, note: PLANTED.prompt })],
    );
  }

  async conversation(org: string, user: string, model = 'gpt-5.2'): Promise<string> {
    const id = randomUUID();
    await this.owner.query(
      `INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, repository, branch, model, created_at, updated_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp(), clock_timestamp())`,
      [id, org, user, PLANTED.name, PLANTED.prompt, PLANTED.repository, PLANTED.branch, model],
    );
    await this.audit(
      org,
      user,
      'conversation.create',
      { repository: PLANTED.repository, branch: PLANTED.branch, model },
      id,
    );
    return id;
  }

  /** Appends lines, as ingest does; `platform`: as the worker does. */
  async append(org: string, conversation: string, events: readonly object[], platform = false): Promise<void> {
    for (const event of events) {
      const whole = { id: randomUUID(), timestamp: new Date().toISOString(), source: 'agent', ...event } as unknown as {
        readonly id: string;
        readonly kind: string;
      };
      await this.owner.query(
        `WITH c AS (UPDATE app.conversation SET head = head + 1, updated_at = clock_timestamp() WHERE id = $1 RETURNING head)
         INSERT INTO app.event (conversation_id, seq, org_id, epoch, producer_seq, event_id, kind, event, created_at)
         SELECT $1, head, $2, 1, CASE WHEN $3 THEN NULL ELSE head END, $4, $5, $6, clock_timestamp() FROM c`,
        [conversation, org, platform, whole.id, whole.kind, JSON.stringify(whole)],
      );
    }
  }

  maker(withCalls = false): EventMaker {
    const gateway = withCalls ? { calls: async () => ({ calls: this.calls, more: false }) } : null;
    return new EventMaker({
      pool: this.pool,
      locks,
      logger: silent,
      gateway,
      clock: { now: () => new Date(Date.now() + this.ahead) },
    });
  }

  sender(options: { send?: EventSenderOptions['send']; now?: () => number; timeoutMs?: number } = {}): EventSender {
    const posthog = this.posthogSender(options.timeoutMs);
    return new EventSender({
      ...{ pool: this.pool, locks, logger: silent, metrics: this.metrics as AnalyticsMetrics, secret: SECRET },
      send: options.send ?? ((events) => posthog.send(events)),
      now: options.now ?? (() => performance.now()),
    });
  }

  posthogSender(timeoutMs = 20_000): PosthogSender {
    const made = new PosthogSender({ host: this.posthog.url, key: this.posthog.key, timeoutMs });
    this.senders.push(made);
    return made;
  }

  /** A worker's round: events are made and sent. */
  async round(): Promise<void> {
    const signal = AbortSignal.timeout(60_000);
    await this.maker().run(signal);
    await this.sender().run(signal);
  }

  async waiting(): Promise<string[]> {
    const { rows } = await this.owner.query<{ name: string }>(
      'SELECT name FROM app.analytics_event ORDER BY made_at, id',
    );
    return rows.map(({ name }) => name);
  }
}

export const update = (key: string, value: unknown): object => ({
  kind: 'ConversationStateUpdateEvent',
  source: 'environment',
  key,
  value,
});
export const status = (value: string): object => update('execution_status', value);
export const message = (): object => ({
  kind: 'MessageEvent',
  source: 'user',
  llm_message: { role: 'user', content: [{ type: 'text', text: PLANTED.prompt }] },
});
export const stats = (cost: number, tokens: number): object =>
  update('stats', { accumulated_cost: cost, prompt_tokens: tokens, completion_tokens: 0, model: PLANTED.prompt });
export const tool = (failed = false): object[] => {
  const id = randomUUID();
  return [
    { id, kind: 'ActionEvent', tool_name: PLANTED.prompt, action: { kind: 'x', command: PLANTED.prompt } },
    {
      kind: 'ObservationEvent',
      action_id: id,
      tool_name: PLANTED.prompt,
      observation: { kind: 'x', is_error: failed, content: [{ type: 'text', text: PLANTED.prompt }] },
    },
  ];
};
export const run = (cost: number, tokens: number): object[] => [
  message(),
  status('running'),
  ...tool(),
  stats(cost, tokens),
  status('finished'),
];
export const pullRequest = (id: string, change: object): object =>
  update('pull_request', {
    ...{
      id,
      provider: 'github',
      repository: PLANTED.repository,
      title: PLANTED.prompt,
      url: `https://git.example/${PLANTED.repository}`,
      branch: PLANTED.branch,
    },
    ...{
      number: null,
      state: 'none',
      headSha: null,
      publish: 'queued',
      createdAt: new Date(Date.now() - 7_200_000).toISOString(),
    },
    ...change,
  });
