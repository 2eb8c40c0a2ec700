import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deliveryContext, Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import { SecretBox } from '@slipway/auth/secret-box';
import { type ConversationEvent, type ExecutionStatus } from '@slipway/contracts/events';
import { ConnectionSettings } from '@slipway/contracts/integrations';
import { createPool, inOrg, type SqlPool } from '@slipway/db/sql';
import { createIds, systemClock } from '@slipway/domain';
import { PROVIDERS, type ProviderId } from '@slipway/integrations';
import { ConnectionCredentials } from '@slipway/integrations/credentials';
import { packDelivery, type WriteAccess } from '@slipway/integrations/deliveries';
import { ProviderDispatch } from '@slipway/integrations/dispatch';
import type { ScriptedVendor } from '@slipway/integrations/testing';
import { createHintBus, createQueue, type HintBus, type Queue } from '@slipway/queue';
import { createLogger } from '@slipway/telemetry';
import { type TestDatabase, until } from '@slipway/testing';
import pg from 'pg';
import { LlmGatewayClient } from '../../clients/llm-gateway.client.js';
import { ConversationLog } from '../../conversations/conversation-log.js';
import { queueDatabase, SECRET } from '../../testing/harness.js';
import { Acts } from '../acts.js';
import { ANSWER_SETTINGS, IntegrationAnswer } from '../answers/integration-answer.js';
import { RepositoryChoices } from '../choice/repository-choices.js';
import { ConnectionCalls } from '../connection-calls.js';
import { DefaultRepository } from '../default-repository.js';
import { DeliveryReader } from '../delivery-reader.js';
import { IntegrationDelivery } from '../integration-delivery.js';
import { ThreadReader } from '../thread-context.js';

export const TRACKER_ORG = 'org_tracker';
const CONNECTION = '7d0c4a0e-3f1d-4c8e-9a57-2f6f4f0d7c33';
/** A turn of a job that died is over soon. Milliseconds. */
const LEASE_MS = 150;
const logger = createLogger('tracker-test', 'silent');
const never: AbortSignal = new AbortController().signal;
const MODELS = '{"object":"list","data":[{"id":"usual","object":"model","created":0,"owned_by":"x","default":true}]}';

/**
 * From a delivery of a real provider to what its thread shows, with the vendor's API over HTTP and no sandbox: the
 * agent's events are written as it would.
 */
export class TrackerWorld {
  /** Milliseconds since 1970. */
  now = Date.parse('2026-11-24T03:00:00Z');
  /** What becomes of a question for the rights at a git host. */
  rights: () => Promise<WriteAccess> = () => Promise.resolve('write');
  host = '';
  private readonly ids = createIds(systemClock);

  private constructor(
    readonly vendor: ScriptedVendor,
    private readonly provider: ProviderId,
    readonly database: TestDatabase,
    readonly pool: SqlPool,
    readonly owner: pg.Client,
    private readonly hints: HintBus,
    private readonly queue: Queue,
    private readonly gateway: Server,
  ) {}

  private dispatch = new ProviderDispatch([]);

  /** @param user the provider's id of the one user who has linked an account. */
  static async open(
    provider: ProviderId,
    vendor: ScriptedVendor,
    user: string,
    settings: Partial<ConnectionSettings> = {},
  ): Promise<TrackerWorld> {
    const database = await queueDatabase();
    const pool = createPool({ url: database.urls.app, max: 12, applicationName: 'test', onError: () => {} });
    const owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    const hints = createHintBus({ databaseUrl: database.urls.app, applicationName: 'test', logger });
    const queue = await createQueue({ databaseUrl: database.urls.app, applicationName: 'test', logger });
    const gateway = createServer(
      (_request, response) => void response.setHeader('content-type', 'application/json').end(MODELS),
    );
    await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
    const world = new TrackerWorld(vendor, provider, database, pool, owner, hints, queue, gateway);
    await world.connect(user, settings);
    return world;
  }

  private async connect(user: string, settings: Partial<ConnectionSettings>): Promise<void> {
    this.host = new URL(await this.vendor.start()).host;
    this.dispatch = new ProviderDispatch([this.host]);
    await this.owner.query(`INSERT INTO app.org (id, slug, name, kind) VALUES ($1, 'tracker', 'Tracker', 'personal')`, [
      TRACKER_ORG,
    ]);
    await this.owner.query(
      `INSERT INTO app.user_account (id, issuer, subject, name) VALUES ('usr_ann', 'test', 'ann', 'Ann')`,
    );
    await this.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, 'usr_ann', 'member')`, [
      TRACKER_ORG,
    ]);
    await this.owner.query(
      `INSERT INTO app.external_identity (provider, host, external_user_id, user_id, login) VALUES ($1, $2, $3, 'usr_ann', 'ann')`,
      [this.provider, this.host, user],
    );
    const kind = PROVIDERS[this.provider].connections[0];
    await this.owner.query(
      `INSERT INTO app.integration_connection (id, org_id, provider, kind, name, host, signature, own, settings, state, created_by, created_by_label)
       VALUES ($1, $2, $3, $4, 'n', $5, $6, '{"ids":["app-user"],"mention":"slipway"}', $7, 'active', 'u', 'u')`,
      [
        CONNECTION,
        TRACKER_ORG,
        this.provider,
        kind?.kind,
        this.host,
        kind?.signature,
        JSON.stringify(ConnectionSettings.parse({ baseUrl: `http://${this.host}`, ...settings })),
      ],
    );
    const place = { id: 'secret-1', connectionId: CONNECTION, kind: 'token' };
    const { bytes, keyVersion } = await this.envelope(this.pool).seal(
      TRACKER_ORG,
      'tok-1',
      integrationSecretContext(place),
    );
    await this.owner.query(
      'INSERT INTO app.integration_secret (id, org_id, connection_id, kind, sealed, key_version) VALUES ($1, $2, $3, $4, $5, $6)',
      [place.id, TRACKER_ORG, CONNECTION, place.kind, bytes, keyVersion],
    );
  }

  async close(): Promise<void> {
    this.vendor.close();
    this.gateway.close();
    await this.queue.close();
    await Promise.all([this.dispatch.close(), this.hints.close(), this.pool.end(), this.owner.end()]);
    await this.database.close();
  }

  /** As if the provider had never been called. */
  async reset(): Promise<void> {
    this.vendor.fates = [];
    this.vendor.messages.splice(0);
    this.vendor.links.clear();
    Object.assign(this.vendor.ticket, { state: 'new', moves: 0, delegate: null });
    await this.owner.query(
      `UPDATE app.integration_connection SET state = 'active', limited_until = NULL, paced_until = NULL`,
    );
  }

  private envelope(pool: SqlPool): Envelope {
    return new Envelope(pool, new SecretBox(SECRET), systemClock);
  }

  /** As app-server keeps a delivery that holds. */
  async arrive(body: object, headers: Record<string, string> = {}): Promise<string> {
    const id = this.ids.uuid();
    const raw = Buffer.from(JSON.stringify(body));
    const packed = await packDelivery({ headers: { 'content-type': 'application/json', ...headers }, raw });
    const sealed = await this.envelope(this.pool).seal(
      TRACKER_ORG,
      packed,
      deliveryContext({ id, connectionId: CONNECTION }),
    );
    await this.pool.query('SELECT app.take_delivery($1, $2, $3, $4, $5, $6, $7, $8, $9)', [
      TRACKER_ORG,
      CONNECTION,
      id,
      randomUUID(),
      'event',
      sealed.bytes,
      sealed.keyVersion,
      raw.length,
      randomUUID(),
    ]);
    return id;
  }

  /** @returns what was decided, and the conversation of it. */
  async decide(
    deliveryId: string,
    pool: SqlPool = this.pool,
  ): Promise<{ readonly outcome: string; readonly conversationId: string | null }> {
    const client = new LlmGatewayClient({
      url: `http://127.0.0.1:${(this.gateway.address() as AddressInfo).port}`,
      masterKey: SECRET,
    });
    const ask = async () => ({ access: await this.rights(), why: null });
    const providers = new Map(Object.entries(PROVIDERS));
    const threads = new ThreadReader(pool, providers, this.calls(pool), ask, logger);
    const acts = new Acts(
      pool,
      this.queue,
      client,
      this.ids,
      threads,
      new DefaultRepository(pool, providers, ask),
      new RepositoryChoices(pool, this.envelope(pool), providers),
    );
    const reader = new DeliveryReader(pool, this.envelope(pool), providers, this.calls(pool), logger);
    const job = new IntegrationDelivery(pool, reader, providers, ask, acts, this.queue, systemClock, logger);
    await job.run({ orgId: TRACKER_ORG, deliveryId }, never);
    const { rows } = await this.owner.query<{ state: string; reason: string; conversation_id: string | null }>(
      'SELECT state, reason, conversation_id FROM app.integration_delivery WHERE id = $1',
      [deliveryId],
    );
    return { outcome: `${rows[0]?.state} ${rows[0]?.reason}`, conversationId: rows[0]?.conversation_id ?? null };
  }

  async take(
    body: object,
    headers: Record<string, string> = {},
  ): Promise<{ readonly outcome: string; readonly conversationId: string }> {
    const { outcome, conversationId } = await this.decide(await this.arrive(body, headers));
    return { outcome, conversationId: conversationId ?? '' };
  }

  private calls(pool: SqlPool): ConnectionCalls {
    return new ConnectionCalls(new ConnectionCredentials(pool, this.envelope(pool)), this.dispatch, {
      now: () => new Date(this.now),
    });
  }

  answers(pool: SqlPool = this.pool): IntegrationAnswer {
    const settings = { ...ANSWER_SETTINGS, leaseMs: LEASE_MS, unknownMs: 0, publicUrl: 'https://slipway.test' };
    return new IntegrationAnswer(
      pool,
      new Map(Object.entries(PROVIDERS)),
      this.calls(pool),
      { now: () => new Date(this.now) },
      settings,
      logger,
    );
  }

  run(conversationId: string, pool?: SqlPool): Promise<number | null> {
    this.vendor.now = this.now;
    return this.answers(pool).run({ orgId: TRACKER_ORG, conversationId }, never);
  }

  /** As the outbox brings what is to be shown at once, and refusals. @returns how long until one is to run again. */
  async runNotices(): Promise<number | null> {
    const { rows } = await this.owner.query<{ key: string }>(
      `SELECT key FROM app.outbox WHERE queue = 'integration-notice' ORDER BY enqueued_at`,
    );
    const waits: number[] = [];
    for (const { key } of rows)
      waits.push(
        (await this.answers().runNotice({ orgId: TRACKER_ORG, answerId: key }, never)) ?? Number.POSITIVE_INFINITY,
      );
    const next = Math.min(...waits);
    return Number.isFinite(next) ? next : null;
  }

  /** As the outbox brings the jobs, until nothing is left or `stop`; time goes on by what they are to wait. */
  async settle(conversationId: string, stop: () => boolean = () => false): Promise<void> {
    await until(
      'everything is shown',
      async () => {
        const waits = [await this.runNotices(), await this.run(conversationId)].filter((wait) => wait !== null);
        const wait = Math.min(...waits);
        if (Number.isFinite(wait) && wait > LEASE_MS + 1) this.now += wait;
        return waits.length === 0 || stop();
      },
      30_000,
    );
  }

  /** What waits in the inbox reaches the agent. */
  async hears(conversationId: string): Promise<void> {
    const { rows } = await this.owner.query<{ id: string }>(
      `SELECT id FROM app.inbox_message m WHERE conversation_id = $1 AND NOT EXISTS (SELECT 1 FROM app.event e WHERE e.event_id = m.id) ORDER BY created_at`,
      [conversationId],
    );
    const message = { source: 'user', llm_message: { role: 'user', content: [{ type: 'text', text: 'x' }] } };
    for (const { id } of rows) await this.append(conversationId, 'MessageEvent', message, id);
  }

  says(conversationId: string, text: string): Promise<void> {
    return this.append(conversationId, 'MessageEvent', {
      source: 'agent',
      llm_message: { role: 'assistant', content: [{ type: 'text', text }] },
    });
  }

  does(conversationId: string, action: Readonly<Record<string, unknown>>): Promise<void> {
    const call = randomUUID();
    return this.append(conversationId, 'ActionEvent', {
      source: 'agent',
      action,
      tool_name: 'terminal',
      tool_call_id: call,
    });
  }

  /** A user's answer to what waits, as the agent or app-server writes it. */
  isAnswered(conversationId: string, answer: { readonly accepted: boolean; readonly by: string }): Promise<void> {
    const value = { ...answer, action_ids: [randomUUID()] };
    return this.append(conversationId, 'ConversationStateUpdateEvent', { source: 'user', key: 'confirmation', value });
  }

  async becomes(conversationId: string, status: ExecutionStatus): Promise<void> {
    await this.owner.query(
      `UPDATE app.conversation SET status_state = '{"execution":"idle","start":"ready","halt":"none"}' WHERE id = $1 AND coalesce(status_state ->> 'start', '') <> 'ready'`,
      [conversationId],
    );
    const log = new ConversationLog(this.pool, this.hints, this.ids, systemClock, 'tracker-test');
    await log.write(TRACKER_ORG, conversationId, null, () => ({ events: [{ kind: 'execution-status', status }] }));
  }

  private async append(
    conversationId: string,
    kind: ConversationEvent['kind'],
    event: object,
    id: string = randomUUID(),
  ): Promise<void> {
    const whole = JSON.stringify({ id, timestamp: '2026-11-24T03:00:00Z', kind, ...event });
    await inOrg(this.pool, TRACKER_ORG, (client) =>
      client.query(
        `SELECT * FROM app.append_events($1, $2, NULL, NULL, ARRAY[NULL]::bigint[], ARRAY[$3]::uuid[], ARRAY[$4], ARRAY[$5], '{}')`,
        [TRACKER_ORG, conversationId, id, kind, whole],
      ),
    );
  }

  shown(): string[] {
    return this.vendor.messages.map(({ shown }) => shown);
  }
}
