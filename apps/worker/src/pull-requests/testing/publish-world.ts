import { randomUUID } from 'node:crypto';
import { deliveryContext, Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import { SecretBox } from '@slipway/auth/secret-box';
import { createPool, inOrg, type SqlPool } from '@slipway/db/sql';
import { createIds, systemClock } from '@slipway/domain';
import { PROVIDERS } from '@slipway/integrations';
import { ConnectionCredentials } from '@slipway/integrations/credentials';
import { packDelivery } from '@slipway/integrations/deliveries';
import { ProviderDispatch } from '@slipway/integrations/dispatch';
import { createHintBus, type HintBus, type Queue } from '@slipway/queue';
import { createLogger } from '@slipway/telemetry';
import type { TestDatabase } from '@slipway/testing';
import pg from 'pg';
import type { LlmGatewayClient } from '../../clients/llm-gateway.client.js';
import { readConversation } from '../../conversations/conversation.queries.js';
import { ConversationLocks } from '../../conversations/conversation-locks.js';
import { ConversationLog } from '../../conversations/conversation-log.js';
import { Acts } from '../../integrations/acts.js';
import { ANSWER_SETTINGS, IntegrationAnswer } from '../../integrations/answers/integration-answer.js';
import { RepositoryChoices } from '../../integrations/choice/repository-choices.js';
import { ConnectionCalls } from '../../integrations/connection-calls.js';
import { DefaultRepository } from '../../integrations/default-repository.js';
import { DeliveryReader } from '../../integrations/delivery-reader.js';
import { IntegrationDelivery } from '../../integrations/integration-delivery.js';
import { ThreadReader } from '../../integrations/thread-context.js';
import type { StartSteps } from '../../start/start-steps.js';
import { queueDatabase, SECRET } from '../../testing/harness.js';
import { AutomaticPublish } from '../automatic-publish.js';
import { Fixes } from '../fixes.js';
import { PublishPlaces } from '../publish-places.js';
import { Publisher } from '../publisher.js';
import { PullRequestJob } from '../pull-request-job.js';
import { PullRequestRecord } from '../pull-request-record.js';
import { PullRequestSync } from '../pull-request-sync.js';
import { giteaApi } from './gitea-api.js';
import { gitlabApi } from './gitlab-api.js';
import { madeBundle } from './made-bundle.js';
import { ScriptedHost } from './scripted-host.js';

export const ORG = 'org_publish';
export const CONNECTION = '7d0c4a0e-3f1d-4c8e-9a57-2f6f4f0d7c33';
export const BASE = 'b'.repeat(40);
const LEASE_MS = 150;
const HOSTS = {
  gitea: { api: giteaApi, kind: 'token', signature: 'sha256', eventHeader: 'x-gitea-event' },
  gitlab: { api: gitlabApi, kind: 'access-token', signature: 'signed', eventHeader: 'x-gitlab-event' },
} as const;
export type HostName = keyof typeof HOSTS;
const logger = createLogger('publish-test', 'silent');
export const never: AbortSignal = new AbortController().signal;

/**
 * From a delivery to a merged pull request: the worker's own jobs on a real database, a git host over HTTP, and an
 * agent that a test plays. Jobs are run by the test.
 */
export class PublishWorld {
  readonly host: ScriptedHost;
  /** What the workspace holds now. */
  work = 'total 1';
  /** Ahead of the machine's by this. Milliseconds. */
  ahead = 0;
  private readonly clock = { now: () => new Date(Date.now() + this.ahead) };
  private address = '';
  private dispatch = new ProviderDispatch([]);
  private readonly providers = new Map(Object.entries(PROVIDERS));
  private readonly ids = createIds(systemClock);
  /** Jobs are run by the test, which asks the database which there are. */
  private readonly queue = { add: () => Promise.resolve() } as unknown as Queue;
  private readonly gateway = {
    models: () => Promise.resolve([{ id: 'm', default: true }]),
  } as unknown as LlmGatewayClient;

  private constructor(
    readonly database: TestDatabase,
    readonly pool: SqlPool,
    readonly owner: pg.Client,
    private readonly hints: HintBus,
    private readonly locks: ConversationLocks,
    private readonly hostName: HostName,
  ) {
    this.host = new ScriptedHost(HOSTS[hostName].api, this.clock.now);
  }

  static async open(hostName: HostName = 'gitea'): Promise<PublishWorld> {
    const database = await queueDatabase();
    const pool = createPool({ url: database.urls.app, max: 12, applicationName: 'test', onError: () => {} });
    const owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    const hints = createHintBus({ databaseUrl: database.urls.app, applicationName: 'test', logger });
    const locks = new ConversationLocks({ databaseUrl: database.urls.app, applicationName: 'test', logger });
    const world = new PublishWorld(database, pool, owner, hints, locks, hostName);
    await world.connect();
    return world;
  }

  private async connect(): Promise<void> {
    this.address = await this.host.start();
    this.dispatch = new ProviderDispatch([this.address]);
    await this.owner.query(`INSERT INTO app.org (id, slug, name, kind) VALUES ($1, 'publish', 'Publish', 'personal')`, [
      ORG,
    ]);
    await this.owner.query(
      `INSERT INTO app.user_account (id, issuer, subject, name) VALUES ('usr_mia', 'test', 'mia', 'Mia')`,
    );
    await this.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, 'usr_mia', 'member')`, [
      ORG,
    ]);
    await this.owner.query(
      `INSERT INTO app.linked_account (id, org_id, provider, host, external_user_id, user_id, login) VALUES ('l', $1, $3, $2, '7', 'usr_mia', 'mia')`,
      [ORG, this.address, this.hostName],
    );
    await this.owner.query(
      `INSERT INTO app.integration_connection (id, org_id, provider, kind, name, host, signature, own, settings, state, created_by, created_by_label)
       VALUES ($1, $2, $5, $6, 'n', $3, $7, '{"ids":["99"],"mention":"slipway"}', $4, 'active', 'u', 'u')`,
      [
        CONNECTION,
        ORG,
        this.address,
        JSON.stringify({
          labels: ['slipway'],
          bots: [],
          confidential: false,
          defaultRepository: null,
          baseUrl: `http://${this.address}`,
        }),
        this.hostName,
        HOSTS[this.hostName].kind,
        HOSTS[this.hostName].signature,
      ],
    );
    const place = { id: 'secret-p', connectionId: CONNECTION, kind: 'token' };
    const { bytes, keyVersion } = await this.envelope(this.pool).seal(
      ORG,
      'tok-of-git',
      integrationSecretContext(place),
    );
    await this.owner.query(
      'INSERT INTO app.integration_secret (id, org_id, connection_id, kind, sealed, key_version) VALUES ($1, $2, $3, $4, $5, $6)',
      [place.id, ORG, CONNECTION, place.kind, bytes, keyVersion],
    );
    this.host.refs.set('refs/heads/main', BASE);
  }

  async close(): Promise<void> {
    this.host.close();
    await Promise.all([
      this.dispatch.close(),
      this.hints.close(),
      this.locks.close(),
      this.pool.end(),
      this.owner.end(),
    ]);
    await this.database.close();
  }

  private envelope(pool: SqlPool): Envelope {
    return new Envelope(pool, new SecretBox(SECRET), systemClock);
  }

  /** As app-server keeps a delivery that holds. @returns its id; a repetition has the first one's. */
  async arrive(event: string, body: object, deliveryId: string): Promise<string> {
    const id = this.ids.uuid();
    const raw = Buffer.from(JSON.stringify(body));
    const packed = await packDelivery({
      headers: { 'content-type': 'application/json', [HOSTS[this.hostName].eventHeader]: event },
      raw,
    });
    const sealed = await this.envelope(this.pool).seal(ORG, packed, deliveryContext({ id, connectionId: CONNECTION }));
    await this.pool.query('SELECT app.take_delivery($1, $2, $3, $4, $5, $6, $7, $8, $9)', [
      ORG,
      CONNECTION,
      id,
      deliveryId,
      event,
      sealed.bytes,
      sealed.keyVersion,
      raw.length,
      randomUUID(),
    ]);
    return id;
  }

  private jobsOn(pool: SqlPool) {
    const calls = new ConnectionCalls(new ConnectionCredentials(pool, this.envelope(pool)), this.dispatch, this.clock);
    const ask = () => Promise.resolve({ access: 'write' as const, why: null });
    const acts = new Acts(
      pool,
      this.queue,
      this.gateway,
      this.ids,
      new ThreadReader(pool, new Map(), calls, ask, logger),
      new DefaultRepository(pool, new Map(), ask),
      new RepositoryChoices(pool, this.envelope(pool), this.providers),
    );
    const steps = {
      agentOf: () => ({ bytes: () => Promise.resolve(madeBundle(BASE, this.work).bytes) }),
    } as unknown as StartSteps;
    const publisher = new Publisher(pool, this.dispatch, ask, this.clock);
    const log = new ConversationLog(pool, this.hints, this.ids, this.clock, 'publish-test');
    const settings = {
      ...ANSWER_SETTINGS,
      leaseMs: LEASE_MS,
      unknownMs: 0,
      calmMs: 0,
      publicUrl: 'https://slipway.test',
    };
    const reader = new DeliveryReader(pool, this.envelope(pool), this.providers, calls, logger);
    return {
      'integration-delivery': new IntegrationDelivery(
        pool,
        reader,
        this.providers,
        ask,
        acts,
        this.queue,
        this.clock,
        logger,
      ),
      'integration-answer': new IntegrationAnswer(pool, this.providers, calls, this.clock, settings, logger),
      'pull-request': new PullRequestJob(
        pool,
        this.queue,
        this.locks,
        new PullRequestSync(
          pool,
          new PublishPlaces(pool, this.providers, calls, steps),
          publisher,
          new Fixes(pool, this.queue, this.ids, this.clock, publisher),
          new PullRequestRecord(pool, log),
          this.clock,
          logger,
        ),
      ),
      automatic: new AutomaticPublish(pool, this.queue, this.ids, this.clock, 'https://slipway.test'),
      log,
    };
  }

  /** One job that the outbox has. */
  async runJob(queue: string, key: string, pool: SqlPool = this.pool): Promise<void> {
    const jobs = this.jobsOn(pool);
    if (queue === 'integration-delivery') return jobs[queue].run({ orgId: ORG, deliveryId: key }, never);
    if (queue === 'integration-answer') return void (await jobs[queue].run({ orgId: ORG, conversationId: key }, never));
    if (queue === 'pull-request') return jobs[queue].run({ orgId: ORG, pullRequestId: key }, never);
  }

  async jobs(): Promise<readonly { readonly queue: string; readonly key: string }[]> {
    const { rows } = await this.owner.query<{ queue: string; key: string }>(
      `SELECT queue, key FROM app.outbox WHERE queue IN ('integration-delivery', 'integration-answer', 'pull-request') ORDER BY enqueued_at`,
    );
    return rows;
  }

  /** A conversation that has finished what the delivery asked for. @returns its id. */
  async begin(delivered: readonly [event: string, body: object]): Promise<string> {
    await this.arrive(...delivered, 'd1');
    await this.settle();
    const [id = ''] = await this.conversations();
    await this.agentWorks(id);
    return id;
  }

  /**
   * What the agent does with what it was asked: it takes everything in, changes the workspace, speaks and finishes.
   * Only its last step publishes.
   */
  async agentWorks(id: string, text = `total ${randomUUID()}`): Promise<void> {
    this.work = text;
    const { rows } = await this.owner.query<{ id: string }>(
      `SELECT id FROM app.inbox_message WHERE conversation_id = $1 AND state <> 'consumed' ORDER BY position`,
      [id],
    );
    for (const message of rows)
      await this.append(id, message.id, {
        source: 'user',
        llm_message: { role: 'user', content: [{ type: 'text', text: 'x' }] },
      });
    const { log } = this.jobsOn(this.pool);
    await this.owner.query(
      `UPDATE app.conversation SET status_state = '{"execution":"idle","start":"ready","halt":"none"}' WHERE id = $1`,
      [id],
    );
    await log.write(ORG, id, null, () => ({ events: [{ kind: 'execution-status', status: 'running' }] }));
    await this.append(id, randomUUID(), {
      source: 'agent',
      llm_message: { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
    });
    await log.write(ORG, id, null, () => ({ events: [{ kind: 'execution-status', status: 'finished' }] }));
    await this.owner.query(
      `UPDATE app.conversation SET base_commit = $2, working_dir = '/workspace/shop', sandbox_status = 'RUNNING' WHERE id = $1`,
      [id, BASE],
    );
    await this.owner.query(
      `INSERT INTO app.workspace_snapshot (conversation_id, org_id, changes, patch) VALUES ($1, $2, '[{"path":"total.js"}]', '') ON CONFLICT (conversation_id) DO NOTHING`,
      [id, ORG],
    );
  }

  /** After the snapshot of a finished run. */
  async consider(id: string, pool: SqlPool = this.pool): Promise<void> {
    const row = await readConversation(this.pool, ORG, id);
    if (row !== null) await this.jobsOn(pool).automatic.consider(row);
  }

  /** A command of the agent, as the sandbox reports it. */
  async ran(id: string, command: string, exitCode: number): Promise<void> {
    const observation = {
      kind: 'TerminalObservation',
      content: [],
      is_error: false,
      command,
      exit_code: exitCode,
      timeout: false,
    };
    await this.append(
      id,
      randomUUID(),
      { source: 'environment', tool_name: 'terminal', observation },
      'ObservationEvent',
    );
  }

  private async append(
    id: string,
    eventId: string,
    event: object,
    kind: 'MessageEvent' | 'ObservationEvent' = 'MessageEvent',
  ): Promise<void> {
    const whole = JSON.stringify({ id: eventId, timestamp: '2026-11-24T03:00:00Z', kind, ...event });
    await inOrg(this.pool, ORG, (client) =>
      client.query(
        `SELECT * FROM app.append_events($1, $2, NULL, NULL, ARRAY[NULL]::bigint[], ARRAY[$3]::uuid[], ARRAY[$5], ARRAY[$4], '{}')`,
        [ORG, id, eventId, whole, kind],
      ),
    );
  }

  /**
   * Runs what the outbox has [of one queue] until it has nothing; what waits for its time comes at once, with the clock
   * moved on.
   */
  async settle(only?: string): Promise<void> {
    for (let rounds = 0; rounds < 60; rounds += 1) {
      const waiting = (await this.jobs()).filter(({ queue }) => only === undefined || queue === only);
      if (waiting.length === 0) return;
      for (const { queue, key } of waiting) await this.runJob(queue, key).catch(() => {});
      this.ahead += 10_000;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`jobs are left: ${JSON.stringify(await this.jobs())}`);
  }

  async conversations(): Promise<string[]> {
    return (
      await this.owner.query<{ id: string }>('SELECT id FROM app.conversation WHERE org_id = $1 ORDER BY created_at', [
        ORG,
      ])
    ).rows.map(({ id }) => id);
  }

  async messages(): Promise<string[]> {
    return (
      await this.owner.query<{ text: string }>(
        'SELECT text FROM app.inbox_message WHERE org_id = $1 ORDER BY position',
        [ORG],
      )
    ).rows.map(({ text }) => text);
  }

  async setting(change: object): Promise<void> {
    await this.owner.query('UPDATE app.integration_connection SET settings = settings || $1::jsonb', [
      JSON.stringify(change),
    ]);
  }

  async row(): Promise<Record<string, unknown>> {
    return (
      (await this.owner.query<{ row: Record<string, unknown> }>('SELECT to_jsonb(p) AS row FROM app.pull_request p'))
        .rows[0]?.row ?? {}
    );
  }

  /** As if nothing had been published yet. */
  async unpublish(): Promise<void> {
    await this.owner.query('DELETE FROM app.pull_request');
    await this.owner.query(`DELETE FROM app.outbox WHERE queue = 'pull-request'`);
    for (const list of [this.host.pulls, this.host.pushes, this.host.fates]) list.length = 0;
    this.host.refs.clear();
    this.host.refs.set('refs/heads/main', BASE);
  }

  /** As if nothing had happened yet. */
  async clear(): Promise<void> {
    for (const table of [
      'pull_request',
      'thread_answer',
      'integration_thread',
      'integration_dedupe',
      'integration_delivery',
      'inbox_message',
      'workspace_snapshot',
      'event',
      'outbox',
      'conversation',
    ])
      await this.owner.query(`DELETE FROM app.${table}`);
    await this.owner.query(
      `UPDATE app.integration_connection SET state = 'active', limited_until = NULL, paced_until = NULL, settings = settings - 'fixChecks' - 'fixRounds' - 'publish'`,
    );
    for (const list of [this.host.pulls, this.host.comments, this.host.pushes, this.host.fates]) list.length = 0;
    this.host.refs.clear();
    this.host.statuses.clear();
    this.host.refs.set('refs/heads/main', BASE);
    this.ahead = 0;
  }
}
