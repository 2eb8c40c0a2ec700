import { SandboxKeys } from '@slipway/auth/caller-keys';
import { Envelope } from '@slipway/auth/envelope';
import { GitTokens } from '@slipway/auth/git-token';
import { IngestTokens } from '@slipway/auth/ingest-token';
import { SecretBox } from '@slipway/auth/secret-box';
import { createPool } from '@slipway/db/sql';
import { createIds, systemClock } from '@slipway/domain';
import { PROVIDERS } from '@slipway/integrations';
import { InstalledApps, installationSource } from '@slipway/integrations/apps';
import { ConnectionCredentials, OAuthSource } from '@slipway/integrations/credentials';
import { ProviderDispatch } from '@slipway/integrations/dispatch';
import { createHintBus, createQueue, measuredQueue } from '@slipway/queue';
import type { Logger } from '@slipway/telemetry';
import { conversationEnds, PoolMetrics, type Registry } from '@slipway/telemetry/http';
import { AnalyticsMetrics } from './analytics/analytics-metrics.js';
import { maybeAnalytics } from './analytics/maybe-analytics.js';
import { CheckpointJob } from './checkpoints/checkpoint-job.js';
import { CheckpointPacks } from './checkpoints/checkpoint-packs.js';
import { CheckpointRestore } from './checkpoints/checkpoint-restore.js';
import { CheckpointSweep } from './checkpoints/checkpoint-sweep.js';
import { LlmGatewayClient } from './clients/llm-gateway.client.js';
import { RuntimeApiClient } from './clients/runtime-api.client.js';
import type { Config } from './config.js';
import { ChargePassRequests } from './conversations/charge-pass-requests.js';
import { ConversationDeletion } from './conversations/conversation-deletion.js';
import { ConversationLocks } from './conversations/conversation-locks.js';
import { ConversationLog } from './conversations/conversation-log.js';
import { ConversationSpendings } from './conversations/conversation-spending.js';
import { ConversationHolder } from './conversations/held-conversation.js';
import { SpendingSweep } from './conversations/spending-sweep.js';
import { Delivery } from './delivery/delivery.js';
import { Acts } from './integrations/acts.js';
import { ANSWER_SETTINGS, IntegrationAnswer } from './integrations/answers/integration-answer.js';
import { RepositoryChoices } from './integrations/choice/repository-choices.js';
import { ConnectionCalls, connectWith } from './integrations/connection-calls.js';
import { CredentialRevocation } from './integrations/credentials/credential-revocation.js';
import { CredentialSweep } from './integrations/credentials/credential-sweep.js';
import { DefaultRepository } from './integrations/default-repository.js';
import { DeliveryReader } from './integrations/delivery-reader.js';
import { HookJob } from './integrations/hooks/hook-job.js';
import { HookSelection } from './integrations/hooks/hook-selection.js';
import { IntegrationDelivery } from './integrations/integration-delivery.js';
import { DeliveryRecovery } from './integrations/recovery/delivery-recovery.js';
import { ThreadReader } from './integrations/thread-context.js';
import { ProviderAccess } from './integrations/write-access.js';
import { handleJobs } from './jobs.js';
import { OrgDeletion } from './orgs/org-deletion.js';
import { OrgPauses } from './orgs/org-pauses.js';
import { ConversationOutcomes } from './outcomes/conversation-outcomes.js';
import { PullRequestOutcomeJob } from './outcomes/pull-request-outcome-job.js';
import { ConversationPause } from './pause/pause.js';
import { Snapshots } from './pause/snapshot.js';
import { SnapshotJob } from './pause/snapshot-job.js';
import { AutomaticPublish } from './pull-requests/automatic-publish.js';
import { Fixes } from './pull-requests/fixes.js';
import { PublishPlaces } from './pull-requests/publish-places.js';
import { Publisher } from './pull-requests/publisher.js';
import { PullRequestJob } from './pull-requests/pull-request-job.js';
import { PullRequestRecord } from './pull-requests/pull-request-record.js';
import { PullRequestSync } from './pull-requests/pull-request-sync.js';
import { OrgSettingsJob } from './settings/org-settings-job.js';
import { SettingsSync } from './settings/settings-sync.js';
import { ConversationModels } from './start/conversation-models.js';
import { ConversationStep } from './start/conversation-step.js';
import { FailedStarts } from './start/failed-starts.js';
import { GitRelays } from './start/git-relays.js';
import { GrantedSecrets } from './start/granted-secrets.js';
import { Room } from './start/room.js';
import { RunningConversations } from './start/running-conversations.js';
import { SandboxStep } from './start/sandbox-step.js';
import { StartSaga } from './start/start.saga.js';
import { StartSteps } from './start/start-steps.js';
import { WorkspaceStep } from './start/workspace-step.js';
import { budgetGauges } from './sweeps/budget-gauges.js';
import { SweepRuns } from './sweeps/leads/sweep-runs.js';
import { writeDefaultLimit } from './sweeps/storage/storage.queries.js';
import { StorageSweep, storageGauges } from './sweeps/storage/storage-sweep.js';
import { Sweeps } from './sweeps/sweeps.js';
import { ConversationCosts } from './sweeps/usage/conversation-costs.js';
import { UsageSweep } from './sweeps/usage/usage-sweep.js';
import { workGauges } from './sweeps/work-gauges.js';
import { TraceExportMetrics } from './trace/trace-export-metrics.js';
import { WebhookSending } from './webhooks/webhook-sending.js';

/** Connections for queries. Jobs wait for peers most of their time and hold none then. */
const POOL_SIZE = 16;
/** For what is done of deleted conversations too: their pause, their removal, their count. */
const DELETED_POOL_SIZE = 6;
const MIB = 1_048_576;

export interface Worker {
  /**
   * Rejects with the reason when jobs cannot be done, or when no worker has completed one of the sweeps for too long.
   */
  ready(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/**
 * Everything of the worker but its HTTP server; takes jobs from the moment it resolves, and exports pending work to
 * `metrics`. @throws when the database or its queue schema is not there.
 */
export async function startWorker(config: Config, logger: Logger, metrics?: Registry): Promise<Worker> {
  const connection = { databaseUrl: config.DATABASE_URL, applicationName: 'worker', logger };
  const bare = await createQueue({ ...connection, redisUrl: config.REDIS_URL });
  const queue = metrics === undefined ? bare : measuredQueue(bare, metrics);
  const hints = createHintBus({ ...connection, redisUrl: config.REDIS_URL });
  const pool = createPool({
    url: config.DATABASE_URL,
    max: POOL_SIZE,
    applicationName: 'worker',
    onError: (error) => logger.warn({ err: error }, 'database connection lost'),
  });
  const withDeleted = createPool({
    url: config.DATABASE_URL,
    max: DELETED_POOL_SIZE,
    applicationName: 'worker-deleted',
    withDeleted: true,
    onError: (error) => logger.warn({ err: error }, 'database connection lost'),
  });
  const runs = new SweepRuns(pool);
  if (metrics !== undefined) {
    new PoolMetrics(metrics).watch('sql', pool);
    workGauges(pool, metrics);
    budgetGauges(pool, metrics);
    runs.expose(metrics);
    storageGauges(pool, metrics);
  }
  const costs = metrics === undefined ? null : new ConversationCosts(pool, metrics);
  const locks = new ConversationLocks(connection);
  const clock = systemClock;
  const ids = createIds(clock);
  const ends = metrics === undefined ? undefined : conversationEnds(metrics, ['start-failed', 'start-refused']);
  const replica = `worker-${ids.uuid()}`;
  const log = new ConversationLog(pool, hints, ids, clock, replica, ends);
  const box = new SecretBox(config.ENCRYPTION_KEY, config.ENCRYPTION_KEY_PREVIOUS);
  const keys = new SandboxKeys(box, config.INGEST_SECRET);
  const runtime = new RuntimeApiClient({
    url: config.RUNTIME_API_URL,
    apiKey: config.RUNTIME_API_KEY,
    appKey: (id) => keys.appKey(id),
  });
  const gateway = new LlmGatewayClient({ url: config.LLM_GATEWAY_URL, masterKey: config.LLM_GATEWAY_MASTER_KEY });
  const spendings = new ConversationSpendings(pool, gateway);
  const delivery = new Delivery(pool, log, spendings);
  const startSettings = {
    cloneTimeoutSeconds: config.CLONE_TIMEOUT_SECONDS,
    setupTimeoutSeconds: config.SETUP_SCRIPT_TIMEOUT_SECONDS,
    maxIterations: config.MAX_ITERATIONS,
    ingestUrl: config.SANDBOX_INGEST_URL,
  };
  const envelope = new Envelope(pool, box, clock);
  const relays = new GitRelays(pool, new GitTokens(config.INGEST_SECRET), config.SANDBOX_INGEST_URL);
  const packs = new CheckpointPacks(envelope);
  const secrets = new GrantedSecrets(pool, envelope, relays);
  const models = new ConversationModels(pool, envelope, gateway, config.SANDBOX_LLM_URL, spendings);
  const steps = new StartSteps(
    new SandboxStep(runtime, keys),
    new WorkspaceStep(secrets, new CheckpointRestore(pool, runtime, packs, logger), startSettings),
    new ConversationStep(pool, new IngestTokens(config.INGEST_SECRET), delivery, startSettings),
    models,
    gateway,
  );
  const snapshots = new Snapshots(withDeleted, logger);
  const providers = new Map(Object.entries(PROVIDERS));
  const dispatch = new ProviderDispatch(config.INTEGRATION_PRIVATE_HOSTS);
  // Never ended by us: a renewal whose answer is lost loses the pair of tokens.
  const connect = connectWith(dispatch, clock);
  const installedApps = new InstalledApps({
    pool,
    envelope,
    providers,
    platform: config.INTEGRATION_APPS,
    connect,
    now: () => clock.now(),
  });
  const say = (fields: object, message: string): void => logger.warn(fields, message);
  const oauth = new OAuthSource({ pool, envelope, providers, connect, clock, ids, say });
  const credentials = new ConnectionCredentials(pool, envelope, [installationSource(installedApps), oauth]);
  const connectionCalls = new ConnectionCalls(credentials, dispatch, clock);
  const access = new ProviderAccess(pool, providers, connectionCalls, clock, logger);
  const threads = new ThreadReader(pool, providers, connectionCalls, access.ask, logger);
  const hookProviders = [...providers.values()]
    .filter(({ codeHost }) => codeHost?.hookDeliveries !== undefined)
    .map(({ id }) => id);
  const sweeps = new Sweeps(
    pool,
    queue,
    locks,
    ids,
    { idleSeconds: config.SANDBOX_IDLE_TIMEOUT_SECONDS, hookProviders },
    logger,
  );
  const automatic = new AutomaticPublish(pool, queue, ids, clock, config.PUBLIC_URL ?? null);
  const publisher = new Publisher(pool, dispatch, access.ask, clock);
  handleJobs(queue, new ConversationHolder(pool, locks, log, ids, logger), {
    saga: new StartSaga(
      pool,
      queue,
      steps,
      new RunningConversations(pool, runtime, new SettingsSync(pool, models), spendings, delivery, logger),
      new FailedStarts(new Room(pool, queue, ids, logger), runtime, logger),
      clock,
      ids,
      logger,
    ),
    pauseHolder: new ConversationHolder(
      withDeleted,
      locks,
      new ConversationLog(withDeleted, hints, ids, clock, replica, ends),
      ids,
      logger,
    ),
    pause: new ConversationPause(withDeleted, queue, runtime, steps, snapshots, clock, logger),
    snapshots: new SnapshotJob(pool, steps, snapshots, logger, (conversation) => {
      costs?.note(conversation);
      return automatic.consider(conversation);
    }),
    checkpoints: new CheckpointJob(pool, runtime, packs, seatBytesOf(config), logger),
    orgPauses: new OrgPauses(pool, queue, logger),
    orgSettings: new OrgSettingsJob(pool, queue, logger),
    orgDeletion: new OrgDeletion(withDeleted, locks, runtime, gateway, logger),
    deliveries: new IntegrationDelivery(
      pool,
      new DeliveryReader(pool, envelope, providers, connectionCalls, logger),
      providers,
      access.ask,
      new Acts(
        pool,
        queue,
        gateway,
        ids,
        threads,
        new DefaultRepository(pool, providers, access.ask),
        new RepositoryChoices(pool, envelope, providers),
      ),
      queue,
      clock,
      logger,
      (orgId, connectionId) => installedApps.refresh(orgId, connectionId),
    ),
    recovery: new DeliveryRecovery(pool, providers, installedApps, connectionCalls, clock, logger),
    answers: new IntegrationAnswer(
      pool,
      providers,
      connectionCalls,
      clock,
      { ...ANSWER_SETTINGS, publicUrl: config.PUBLIC_URL ?? null },
      logger,
    ),
    hooks: new HookJob(pool, envelope, providers, connectionCalls, queue, clock, config.PUBLIC_URL ?? null, logger),
    hookSelection: new HookSelection(pool, providers, connectionCalls, queue, logger),
    pullRequests: new PullRequestJob(
      pool,
      queue,
      locks,
      new PullRequestSync(
        pool,
        new PublishPlaces(pool, providers, connectionCalls, steps),
        publisher,
        new Fixes(pool, queue, ids, clock, publisher),
        new PullRequestRecord(pool, log),
        clock,
        logger,
      ),
    ),
    pullRequestOutcomes: new PullRequestOutcomeJob(pool, queue, locks, providers, connectionCalls, clock, logger),
    revocations: new CredentialRevocation(pool, envelope, providers, connect, logger),
    webhooks: new WebhookSending(pool, envelope, dispatch, clock, ids, logger),
    deletion: new ConversationDeletion(withDeleted, locks, runtime, gateway, logger),
  });
  await writeDefaultLimit(pool, config.STORAGE_LIMIT_MIB * MIB);
  sweeps.start();
  const storage = new StorageSweep(withDeleted, locks, logger, metrics);
  storage.start();
  const usage = new UsageSweep(pool, gateway, clock, locks, logger);
  usage.start();
  const checkpoints = new CheckpointSweep({ pool, runtime, locks, clock, logger });
  checkpoints.start();
  const credentialSweep = new CredentialSweep({
    ...{ pool, credentials, calls: connectionCalls, providers, locks, clock, logger },
    publicUrl: config.PUBLIC_URL ?? null,
  });
  credentialSweep.start();
  const spending = new SpendingSweep(pool, spendings, locks, logger, new ChargePassRequests(pool, gateway, logger));
  spending.start();
  const outcomes = new ConversationOutcomes({ pool, gateway, clock, locks, logger });
  outcomes.start();
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers } = config;
  const traceMetrics = new TraceExportMetrics(metrics);
  // OpenTelemetry's packages are loaded only where they are configured.
  const traces =
    endpoint === undefined
      ? null
      : (await import('./trace/start-trace-export.js')).startTraceExport(
          { endpoint, headers },
          { ...{ pool, gateway, clock, locks, logger }, metrics: traceMetrics, secret: config.INGEST_SECRET },
        );
  const analyticsMetrics = new AnalyticsMetrics(pool, metrics);
  const analytics = await maybeAnalytics(config, { pool, locks, clock, logger, gateway, metrics: analyticsMetrics });
  return {
    ready: async (signal) => {
      await pool.query('SELECT 1');
      await queue.ping(signal);
      await runs.expectRecent();
    },
    close: async () => {
      costs?.close();
      await Promise.all([
        sweeps.close(),
        usage.close(),
        spending.close(),
        storage.close(),
        checkpoints.close(),
        credentialSweep.close(),
        outcomes.close(),
        traces?.close(),
        analytics?.close(),
      ]);
      await queue.close();
      await Promise.all([locks.close(), hints.close(), pool.end(), withDeleted.end(), dispatch.close()]);
    },
  };
}

/** `null`: no limit. */
function seatBytesOf({ CHECKPOINT_GIB_PER_MEMBER: limit }: Config): number | null {
  return limit === 0 ? null : limit * 2 ** 30;
}
