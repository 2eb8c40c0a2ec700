import { randomUUID } from 'node:crypto';
import { SandboxKeys } from '@slipway/auth/caller-keys';
import { Envelope } from '@slipway/auth/envelope';
import { GitTokens } from '@slipway/auth/git-token';
import { IngestTokens } from '@slipway/auth/ingest-token';
import { SecretBox } from '@slipway/auth/secret-box';
import type { ExecutionStatus } from '@slipway/contracts/events';
import { createPool, inOrg, type SqlPool } from '@slipway/db/sql';
import { createIds, systemClock } from '@slipway/domain';
import { createHintBus, createQueue, type HintBus, type Queue } from '@slipway/queue';
import { migrateQueue } from '@slipway/queue/migrate';
import { createLogger } from '@slipway/telemetry';
import { createTestDatabase, type TestDatabase } from '@slipway/testing';
import { CheckpointPacks } from '../checkpoints/checkpoint-packs.js';
import { CheckpointRestore } from '../checkpoints/checkpoint-restore.js';
import { LlmGatewayClient } from '../clients/llm-gateway.client.js';
import { RuntimeApiClient } from '../clients/runtime-api.client.js';
import { type ConversationRow, readConversation } from '../conversations/conversation.queries.js';
import { ConversationLocks } from '../conversations/conversation-locks.js';
import { ConversationLog } from '../conversations/conversation-log.js';
import { ConversationSpendings } from '../conversations/conversation-spending.js';
import { ConversationHolder } from '../conversations/held-conversation.js';
import { Delivery } from '../delivery/delivery.js';
import { ConversationPause } from '../pause/pause.js';
import { Snapshots } from '../pause/snapshot.js';
import { SettingsSync } from '../settings/settings-sync.js';
import { ConversationModels } from '../start/conversation-models.js';
import { ConversationStep } from '../start/conversation-step.js';
import { FailedStarts } from '../start/failed-starts.js';
import { GitRelays } from '../start/git-relays.js';
import { GrantedSecrets } from '../start/granted-secrets.js';
import { Room } from '../start/room.js';
import { RunningConversations } from '../start/running-conversations.js';
import { SandboxStep } from '../start/sandbox-step.js';
import { StartSaga } from '../start/start.saga.js';
import { StartSteps } from '../start/start-steps.js';
import { WorkspaceStep } from '../start/workspace-step.js';
import { FakePeers } from './fake-peers.js';

export const ORG = 'org_test';
export const SECRET = 'a-secret-for-tests-of-at-least-32-characters';
const logger = createLogger('worker-test', process.env['LOG_LEVEL'] ?? 'silent');

/** The worker's own parts on a real database, with fakes of its peers; jobs are run by the test itself. */
export interface Harness {
  readonly database: TestDatabase;
  readonly peers: FakePeers;
  readonly pool: SqlPool;
  readonly queue: Queue;
  readonly envelope: Envelope;
  /** A conversation with its first message and its outbox job, as app-server writes them. */
  create(options?: {
    repository?: string;
    branch?: string;
    prompt?: string;
    model?: string;
  }): Promise<{ id: string; message: string }>;
  send(conversation: string, text: string, author?: string): Promise<string>;
  addJob(queue: string, conversation: string): Promise<void>;
  desire(conversation: string, desired: 'run' | 'rest'): Promise<void>;
  expireLease(conversation: string): Promise<void>;
  /** As app-server ends the writing of a sandbox that it cannot reach. */
  fence(conversation: string): Promise<void>;
  execution(conversation: string, status: ExecutionStatus): Promise<void>;
  /** As if its last event and its outbox job were this old. */
  age(conversation: string, seconds: number): Promise<void>;
  start(conversation: string, signal?: AbortSignal): Promise<void>;
  rest(conversation: string, signal?: AbortSignal): Promise<void>;
  row(conversation: string): Promise<ConversationRow>;
  log(conversation: string): Promise<Array<{ seq: number; id: string; kind: string; key?: string; value?: unknown }>>;
  /** Queues of the outbox jobs that are left. */
  jobs(conversation: string): Promise<string[]>;
  close(): Promise<void>;
}

export function queueDatabase(): Promise<TestDatabase> {
  return createTestDatabase({ extra: { name: 'queue', prepare: (ownerUrl) => migrateQueue(ownerUrl, 'slipway_app') } });
}

export async function openHarness(
  settings: {
    cloneTimeoutSeconds?: number;
    setupTimeoutSeconds?: number;
    gatewayUrl?: string;
    database?: TestDatabase;
  } = {},
): Promise<Harness> {
  const database = settings.database ?? (await queueDatabase());
  const connection = { databaseUrl: database.urls.app, applicationName: 'worker-test', logger };
  const peers = await FakePeers.open(database.urls.app);
  const pool = createPool({ url: database.urls.app, max: 8, applicationName: 'worker-test', onError: () => {} });
  const queue = await createQueue(connection);
  const hints: HintBus = createHintBus(connection);
  const locks = new ConversationLocks(connection);
  const ids = createIds(systemClock);
  const log = new ConversationLog(pool, hints, ids, systemClock, 'worker-test');
  const keys = new SandboxKeys(new SecretBox(SECRET), SECRET);
  const runtime = new RuntimeApiClient({ url: peers.runtimeUrl, apiKey: SECRET, appKey: (id) => keys.appKey(id) });
  const envelope = new Envelope(pool, new SecretBox(SECRET), systemClock);
  const gateway = new LlmGatewayClient({ url: settings.gatewayUrl ?? peers.gatewayUrl, masterKey: SECRET });
  const spendings = new ConversationSpendings(pool, gateway);
  const delivery = new Delivery(pool, log, spendings);
  const models = new ConversationModels(
    pool,
    envelope,
    gateway,
    settings.gatewayUrl ?? 'http://127.0.0.1:1',
    spendings,
  );
  const packs = new CheckpointPacks(envelope);
  const secrets = new GrantedSecrets(
    pool,
    envelope,
    new GitRelays(pool, new GitTokens(SECRET), 'http://app-server.test'),
  );
  const { cloneTimeoutSeconds = 20, setupTimeoutSeconds = 20 } = settings;
  const steps = new StartSteps(
    new SandboxStep(runtime, keys),
    new WorkspaceStep(secrets, new CheckpointRestore(pool, runtime, packs, logger), {
      cloneTimeoutSeconds,
      setupTimeoutSeconds,
    }),
    new ConversationStep(pool, new IngestTokens(SECRET), delivery, {
      maxIterations: 10,
      ingestUrl: 'http://127.0.0.1:1',
    }),
    models,
    gateway,
  );
  const holder = new ConversationHolder(pool, locks, log, ids, logger);
  const saga = new StartSaga(
    pool,
    queue,
    steps,
    new RunningConversations(pool, runtime, new SettingsSync(pool, models), spendings, delivery, logger),
    new FailedStarts(new Room(pool, queue, ids, logger), runtime, logger),
    systemClock,
    ids,
    logger,
  );
  const pause = new ConversationPause(pool, queue, runtime, steps, new Snapshots(pool, logger), systemClock, logger);
  const never = new AbortController().signal;
  const insertMessage = async (conversation: string, text: string, author = 'usr_a'): Promise<string> => {
    const id = randomUUID();
    await inOrg(pool, ORG, (client) =>
      client.query(
        `INSERT INTO app.inbox_message (id, org_id, conversation_id, text, created_by, created_by_label) VALUES ($1, $2, $3, $4, $5, 'A')`,
        [id, ORG, conversation, text, author],
      ),
    );
    return id;
  };
  const addJob = async (name: string, conversation: string): Promise<void> => {
    await inOrg(pool, ORG, (client) =>
      client.query(
        `INSERT INTO app.outbox (id, org_id, queue, key, payload) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (queue, key) DO UPDATE SET enqueued_at = clock_timestamp()`,
        [randomUUID(), ORG, name, conversation, JSON.stringify({ orgId: ORG, conversationId: conversation })],
      ),
    );
  };
  return {
    database,
    peers,
    pool,
    queue,
    envelope,
    create: async ({ repository, branch, prompt = 'Do it.', model = 'demo' } = {}) => {
      const id = randomUUID();
      await inOrg(pool, ORG, (client) =>
        client.query(
          `INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, repository, branch, model) VALUES ($1, $2, 'usr_a', 'A', 'T', $3, $4, $5)`,
          [id, ORG, repository ?? null, branch ?? null, model],
        ),
      );
      const message = await insertMessage(id, prompt);
      await addJob('conversation-start', id);
      return { id, message };
    },
    send: insertMessage,
    addJob,
    desire: async (conversation, desired) => {
      await inOrg(pool, ORG, (client) =>
        client.query('UPDATE app.conversation SET desired = $2 WHERE id = $1', [conversation, desired]),
      );
    },
    age: async (conversation, seconds) => {
      await inOrg(pool, ORG, async (client) => {
        await client.query(`UPDATE app.conversation SET updated_at = now() - $2 * interval '1 second' WHERE id = $1`, [
          conversation,
          seconds,
        ]);
        await client.query(`UPDATE app.outbox SET enqueued_at = now() - $2 * interval '1 second' WHERE key = $1`, [
          conversation,
          seconds,
        ]);
      });
    },
    fence: async (conversation) => {
      await inOrg(pool, ORG, (client) =>
        client.query('UPDATE app.conversation SET epoch = epoch + 1, acked = 0 WHERE id = $1', [conversation]),
      );
    },
    execution: async (conversation, status) => {
      await log.write(ORG, conversation, null, () => ({ events: [{ kind: 'execution-status', status }] }));
    },
    expireLease: async (conversation) => {
      await inOrg(pool, ORG, (client) =>
        client.query(`UPDATE app.conversation SET lease_until = now() - interval '1 second' WHERE id = $1`, [
          conversation,
        ]),
      );
    },
    start: (conversation, signal = never) =>
      holder.hold({ orgId: ORG, conversationId: conversation }, signal, (held) => saga.bringUp(held)),
    rest: (conversation, signal = never) =>
      holder.hold({ orgId: ORG, conversationId: conversation }, signal, (held) => pause.pause(held)),
    row: async (conversation) => {
      const row = await readConversation(pool, ORG, conversation);
      if (row === null) throw new Error('no such conversation');
      return row;
    },
    log: async (conversation) =>
      (
        await inOrg(pool, ORG, (client) =>
          client.query<{ seq: number; event: { id: string; kind: string; key?: string; value?: unknown } }>(
            'SELECT seq, event FROM app.event WHERE conversation_id = $1 ORDER BY seq',
            [conversation],
          ),
        )
      ).rows.map(({ seq, event }) => ({ seq, ...event })),
    jobs: async (conversation) =>
      (
        await inOrg(pool, ORG, (client) =>
          client.query<{ queue: string }>('SELECT queue FROM app.outbox WHERE key = $1', [conversation]),
        )
      ).rows.map((row) => row.queue),
    close: async () => {
      await queue.close();
      await Promise.all([hints.close(), locks.close(), peers.close(), pool.end()]);
      await database.close();
    },
  };
}
