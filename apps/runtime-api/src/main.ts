import { GracefulStop } from '@slipway/service';
import {
  createGatheringLogger,
  createLogger,
  flushTraces,
  logSettings,
  metricsAddress,
  useTracing,
} from '@slipway/telemetry';
import { preloadedTracing } from '@slipway/telemetry/preloaded';
import { createRuntimeApi } from './app.js';
import { openSandboxes } from './backends.js';
import { loadConfig } from './config.js';

/**
 * Claims under way may go on for this long after the drain; those who wait in the queue are sent to another replica
 * before. Milliseconds.
 */
const REQUESTS_MS = 10_000;
/** Longest for each of the steps that give back what this replica holds. Milliseconds. */
const CLOSE_MS = 5_000;

const config = loadConfig(process.env);
const logger = createLogger('runtime-api', logSettings(config));
useTracing(preloadedTracing(logger));
try {
  const stop = new GracefulStop({ logger, drainSeconds: config.DRAIN_SECONDS });
  const sandboxes = await openSandboxes(config, process.env, logger);
  const runtimeApi = await createRuntimeApi({
    databaseUrl: config.DATABASE_URL,
    apiKey: config.RUNTIME_API_KEY,
    encryptionKey: config.ENCRYPTION_KEY,
    previousEncryptionKey: config.ENCRYPTION_KEY_PREVIOUS,
    activationKey: config.ACTIVATION_PRIVATE_KEY,
    backend: sandboxes.backend,
    pools: sandboxes.pools,
    packs: sandboxes.packs,
    pace: sandboxes.pace,
    storeProblem: sandboxes.storeProblem,
    sandboxProblem: sandboxes.problem,
    sessionLimits: { idleSeconds: config.SANDBOX_IDLE_SECONDS ?? null, maxAgeSeconds: config.SANDBOX_MAX_AGE_SECONDS },
    egress: sandboxes.egress,
    orgSandboxLimit: config.ORG_SANDBOX_LIMIT,
    workspaceLimitBytes: config.WORKSPACE_LIMIT_GIB * 2 ** 30,
    replicaId: config.REPLICA_ID,
    stopping: stop.stopping,
    metrics: metricsAddress(config),
    logger,
    access: createGatheringLogger('runtime-api', logSettings(config)),
  });
  stop.serve(runtimeApi.app.getHttpServer());
  stop.onSignals(
    [
      { name: 'queue', withinMs: CLOSE_MS, run: () => runtimeApi.closeQueue() },
      stop.requests(REQUESTS_MS),
      { name: 'leases', withinMs: CLOSE_MS, run: () => runtimeApi.close() },
      { name: 'sandboxes', withinMs: CLOSE_MS, run: () => sandboxes.close() },
      flushTraces(),
    ],
    // Another replica leads at once; what this one began, and whether that failed, is seen in the step of the leases.
    [{ name: 'leadership', run: () => void runtimeApi.pool.close().catch(() => {}) }],
  );
  await runtimeApi.app.listen(config.PORT, config.HOST);
  runtimeApi.pool.start();
  logger.info({ url: await runtimeApi.app.getUrl(), replica: config.REPLICA_ID }, 'runtime-api listening');
} catch (error) {
  const taken = (error as { code?: unknown } | null)?.code === 'EADDRINUSE';
  logger.fatal(
    { err: error },
    taken
      ? `port ${config.PORT} of ${config.HOST} is in use by another process; set PORT`
      : 'runtime-api failed to start',
  );
  process.exit(1);
}
