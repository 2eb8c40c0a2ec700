import { Envelope } from '@slipway/auth/envelope';
import { IngestTokens } from '@slipway/auth/ingest-token';
import { SecretBox } from '@slipway/auth/secret-box';
import { createPool } from '@slipway/db/sql';
import { createIds, systemClock } from '@slipway/domain';
import { createHintBus, createQueue } from '@slipway/queue';
import type { Logger } from '@slipway/telemetry';
import type { Registry } from '@slipway/telemetry/http';
import type { Config } from './config.js';
import { ConversationLocks } from './conversations/conversation-locks.js';
import { ConversationLog } from './conversations/conversation-log.js';
import { ConversationHolder } from './conversations/held-conversation.js';
import { Delivery } from './delivery/delivery.js';
import { handleJobs } from './jobs.js';
import { OrgBrake } from './orgs/org-brake.js';
import { OrgDeletion } from './orgs/org-deletion.js';
import { OrgRest } from './orgs/org-rest.js';
import { LlmGatewayClient } from './peers/llm-gateway.client.js';
import { RuntimeApiClient } from './peers/runtime-api.client.js';
import { Rest } from './rest/rest.js';
import { Snapshots } from './rest/snapshot.js';
import { SnapshotJob } from './rest/snapshot-job.js';
import { BrakeSwitch } from './start/brake-switch.js';
import { ConversationModels } from './start/conversation-models.js';
import { GrantedSecrets } from './start/granted-secrets.js';
import { ModelSwitch } from './start/model-switch.js';
import { StartSaga } from './start/start.saga.js';
import { StartSteps } from './start/start-steps.js';
import { TermsSwitch } from './start/terms-switch.js';
import { Sweeps } from './sweeps/sweeps.js';
import { workGauges } from './sweeps/work-gauges.js';
import { UsageSweep } from './usage/usage-sweep.js';

/** Connections for queries. Jobs wait for peers most of their time and hold none then. */
const POOL_SIZE = 16;

export interface Worker {
  /** Rejects with the reason when jobs cannot be done. */
  ready(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Everything of the worker but its HTTP server; takes jobs from the moment it resolves, and tells `metrics` what is not done yet. @throws when the database or its queue schema is not there. */
export async function startWorker(config: Config, logger: Logger, metrics?: Registry): Promise<Worker> {
  const connection = { databaseUrl: config.DATABASE_URL, applicationName: 'worker', logger };
  const queue = await createQueue({ ...connection, redisUrl: config.REDIS_URL });
  const hints = createHintBus({ ...connection, redisUrl: config.REDIS_URL });
  const pool = createPool({
    url: config.DATABASE_URL,
    max: POOL_SIZE,
    applicationName: 'worker',
    onError: (error) => logger.warn({ err: error }, 'a database connection was lost'),
  });
  if (metrics !== undefined) workGauges(pool, metrics);
  const locks = new ConversationLocks(connection);
  const clock = systemClock;
  const ids = createIds(clock);
  const log = new ConversationLog(pool, hints, ids, clock, `worker-${ids.uuid()}`);
  const runtime = new RuntimeApiClient({ url: config.RUNTIME_API_URL, apiKey: config.RUNTIME_API_KEY });
  const gateway = new LlmGatewayClient({ url: config.LLM_GATEWAY_URL, masterKey: config.LLM_GATEWAY_MASTER_KEY });
  const delivery = new Delivery(pool, log);
  const box = new SecretBox(config.ENCRYPTION_KEY, config.ENCRYPTION_KEY_PREVIOUS);
  const startSettings = {
    cloneTimeoutSeconds: config.CLONE_TIMEOUT_SECONDS,
    setupTimeoutSeconds: config.SETUP_SCRIPT_TIMEOUT_SECONDS,
    maxIterations: config.MAX_ITERATIONS,
    ingestUrl: config.SANDBOX_INGEST_URL,
  };
  const envelope = new Envelope(pool, box, clock);
  const secrets = new GrantedSecrets(pool, envelope);
  const models = new ConversationModels(pool, envelope, gateway, config.SANDBOX_LLM_URL);
  const steps = new StartSteps(runtime, gateway, models, delivery, box, new IngestTokens(config.INGEST_SECRET), startSettings, secrets, pool);
  const snapshots = new Snapshots(pool, logger);
  const sweeps = new Sweeps(pool, queue, locks, ids, { idleSeconds: config.SANDBOX_IDLE_TIMEOUT_SECONDS }, logger);
  handleJobs(queue, new ConversationHolder(pool, locks, log, ids, logger), {
    saga: new StartSaga(pool, queue, runtime, steps, new ModelSwitch(models), new TermsSwitch(pool), new BrakeSwitch(pool), delivery, clock, logger),
    rest: new Rest(pool, queue, runtime, steps, snapshots, clock, logger),
    snapshots: new SnapshotJob(pool, steps, snapshots, logger),
    orgRest: new OrgRest(pool, queue, logger),
    orgBrake: new OrgBrake(pool, queue, logger),
    orgDeletion: new OrgDeletion(pool, locks, runtime, gateway, logger),
  });
  sweeps.start();
  const usage = new UsageSweep(pool, gateway, clock, locks, logger);
  usage.start();
  return {
    ready: async (signal) => {
      await pool.query('SELECT 1');
      await queue.ping(signal);
    },
    close: async () => {
      await Promise.all([sweeps.close(), usage.close()]);
      await queue.close();
      await Promise.all([locks.close(), hints.close(), pool.end()]);
    },
  };
}
