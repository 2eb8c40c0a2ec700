import path from 'node:path';
import { createPool } from '@slipway/db/sql';
import { createIds, systemClock } from '@slipway/domain';
import { type GracefulStop } from '@slipway/service';
import { type Logger, metricsAddress } from '@slipway/telemetry';
import { PoolMetrics } from '@slipway/telemetry/http';
import { createAdmitter } from './budgets/create-admitter.js';
import { ResponseCache } from './cache/response-cache.js';
import type { Config } from './config.js';
import { withChargePass } from './keys/charge-passes.js';
import { KeyCache } from './keys/key-cache.js';
import { findKey } from './keys/keys.queries.js';
import { masterKeyCheck } from './keys/master-key.js';
import { insertLedgerEntries } from './ledger/ledger.queries.js';
import { LedgerSpool } from './ledger/ledger-spool.js';
import { LedgerWriter } from './ledger/ledger-writer.js';
import { OpenCallFiles } from './ledger/open-call-files.js';
import { OpenCalls } from './ledger/open-calls.js';
import { oldCalls, recordCalls } from './ledger/open-calls.queries.js';
import { createGatewayMetrics } from './metrics.js';
import { debugFiles } from './prompt-log/debug-files.js';
import { PromptLog, type PromptStore } from './prompt-log/prompt-log.js';
import { insertPrompt, readPolicies, sweepPrompts } from './prompt-log/prompt-log.queries.js';
import { buildGroups, type OfferedModel, simplestModel } from './routing/build-groups.js';
import { Dispatchers } from './routing/dispatchers.js';
import { ModelDirectory } from './routing/model-directory.js';
import { readModelsFile } from './routing/models-file.js';
import { RetryBudget } from './routing/retry-budget.js';
import { createGatewayServer } from './server.js';

export interface Gateway {
  /** `http://host:port`. */
  readonly url: string;
  /** Where its metrics are. */
  readonly metricsUrl: string | null;
  /** Ends the calls that are under way with `service.unavailable`. */
  breakOff(): void;
  /** Stores the ledger, and gives up the connections, after the last call. */
  close(): Promise<void>;
}

/** Longest answer of Postgres to a key lookup or a batch. Milliseconds; then it counts as away. */
const QUERY_TIMEOUT_MS = 4_000;
/** Beside the one that listens. */
const DB_CONNECTIONS = 9;
const LEDGER_CLOSE_MS = 5_000;

/**
 * The whole gateway in this process. It leaves by `stop`, whose steps are the caller's.
 * @param callLog for the one line of each call, which holds no secrets.
 */
export async function startGateway(
  config: Config,
  logger: Logger,
  stop: GracefulStop,
  callLog = logger.child({}, { redact: [] }),
): Promise<Gateway> {
  const pool = createPool({
    url: config.DATABASE_URL,
    max: DB_CONNECTIONS,
    applicationName: 'llm-gateway',
    queryTimeoutMs: QUERY_TIMEOUT_MS,
    onError: (err) => logger.warn({ err }, 'database connection failed'),
  });
  const clock = systemClock;
  const ids = createIds(clock);
  const spool =
    config.DATA_DIR === undefined
      ? null
      : new LedgerSpool(path.join(config.DATA_DIR, 'ledger'), (err) =>
          logger.error({ err }, 'failed to use the ledger spool'),
        );
  const ledger: LedgerWriter = new LedgerWriter({
    store: async (entries) => {
      await insertLedgerEntries(pool, entries);
      openCalls.stored(entries);
    },
    spool,
    logger,
  });
  const metrics = createGatewayMetrics({ pending: () => ledger.size, open: () => openCalls.size });
  new PoolMetrics(metrics.registry).watch('sql', pool);
  const keys = new KeyCache(async (keyId) => {
    const key = await findKey(pool, keyId, clock.now());
    metrics.keyLookups.inc({ result: key === null ? 'unknown' : 'known' });
    return key;
  }, clock);
  const admitter = createAdmitter({
    pool,
    clock,
    logger,
    whenAway: config.BUDGETS_WHEN_AWAY,
    holdSeconds: config.BUDGET_HOLD_SECONDS,
    reservedWaitMs: config.BUDGET_WAIT_SECONDS * 1000,
    limitsChanged: (orgId) => keys.forgetOrg(orgId),
    keyChanged: (keyId) => keys.forget([keyId]),
    lives:
      config.DATA_DIR === undefined
        ? undefined
        : { directory: path.join(config.DATA_DIR, 'budgets'), stored: () => openCalls.recover() },
  });
  const openCalls: OpenCalls = new OpenCalls({
    record: (begun, ended) => recordCalls(pool, begun, ended),
    recorded: (replica, seconds) => oldCalls(pool, replica, seconds),
    ledger,
    files:
      config.DATA_DIR === undefined
        ? null
        : new OpenCallFiles(path.join(config.DATA_DIR, 'calls'), (err) =>
            logger.error({ err }, 'failed to use the files of calls under way'),
          ),
    replica: () => admitter.replica(),
    whenAway: config.BUDGETS_WHEN_AWAY,
    logger,
  });
  const models = new ModelDirectory(offeredModels(config), clock.now());
  const dispatchers = new Dispatchers(config);
  const promptStores: PromptStore[] = [];
  if (config.PROMPT_LOG !== 'never')
    promptStores.push({
      policies: () => readPolicies(pool),
      insert: (orgId, entry) => insertPrompt(pool, orgId, entry),
      sweep: (now) => sweepPrompts(pool, now),
    });
  if (config.LLM_DEBUG_LOG_DIR !== undefined) promptStores.push(debugFiles(config.LLM_DEBUG_LOG_DIR));
  const promptLogs = promptStores.map((store) => new PromptLog({ store, clock, logger }));
  const shutdown = new AbortController();
  const { app, telemetry } = createGatewayServer({
    completions: {
      keys,
      charged: (key, pass) => withChargePass(pool, key, pass, clock.now()),
      models,
      admitter,
      dispatchers,
      retries: new RetryBudget(),
      random: Math.random,
      cache:
        config.RESPONSE_CACHE_SECONDS === 0
          ? null
          : new ResponseCache(config.RESPONSE_CACHE_MIB * 1024 * 1024, config.RESPONSE_CACHE_SECONDS * 1000),
      promptLogs,
      ledger,
      openCalls,
      metrics,
      logger,
      callLog,
      clock,
      ids,
      demoDelayMs: config.DEMO_MODEL_DELAY_MS,
      shutdown: shutdown.signal,
    },
    keys: { pool, keys, isMasterKey: masterKeyCheck(config.LLM_GATEWAY_MASTER_KEY), clock, ids },
    promptLog: config.PROMPT_LOG,
    registry: metrics.registry,
    metrics: metricsAddress(config),
    logger,
    stopping: stop.stopping,
    // Shows that Postgres answers and that the schema is there; the provider's health is its own affair.
    ready: async () => {
      await findKey(pool, '', clock.now());
    },
  });
  stop.serve(app.server);
  for (const log of promptLogs) log.start();
  await ledger.recover();
  await openCalls.start();
  await admitter.start();
  const address = await app.listen({ host: config.HOST, port: config.PORT });
  if (models.offered.length === 0)
    logger.warn('no LLM_MODELS_FILE, LLM_BASE_URL or LLM_API_KEY set, only the scripted demo model is served');
  return {
    url: address,
    metricsUrl: telemetry.metricsUrl(),
    breakOff: () => shutdown.abort(),
    close: async () => {
      await app.close();
      await ledger.close(LEDGER_CLOSE_MS);
      await openCalls.close();
      await admitter.close();
      await Promise.all(promptLogs.map((log) => log.close()));
      await dispatchers.close();
      await pool.end();
    },
  };
}

/** The model of LLM_MODEL first, and then the file's, which may say more of it. */
function offeredModels(config: Config): OfferedModel[] {
  const listed =
    config.LLM_MODELS_FILE === undefined ? [] : buildGroups(readModelsFile(config.LLM_MODELS_FILE), config.environment);
  const { upstream } = config;
  return upstream === null || listed.some(({ group }) => group.name === upstream.model)
    ? listed
    : [simplestModel(upstream), ...listed];
}
