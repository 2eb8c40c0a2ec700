import { createLogger } from '@slipway/telemetry';
import { createRuntimeApi } from './app.js';
import { openSandboxes } from './backends.js';
import { loadConfig } from './config.js';

/** Requests under way may go on for this long after SIGTERM. Milliseconds; below Kubernetes' 30 s. */
const GRACE_MS = 10_000;

const config = loadConfig(process.env);
const logger = createLogger('runtime-api', config.LOG_LEVEL);
try {
  const sandboxes = await openSandboxes(config, process.env, logger);
  const runtimeApi = await createRuntimeApi({
    databaseUrl: config.DATABASE_URL,
    apiKey: config.RUNTIME_API_KEY,
    encryptionKey: config.ENCRYPTION_KEY,
    activationKey: config.ACTIVATION_PRIVATE_KEY,
    backend: sandboxes.backend,
    pools: sandboxes.pools,
    pace: sandboxes.pace,
    sandboxProblem: sandboxes.problem,
    sessionLimits: { idleSeconds: config.SANDBOX_IDLE_SECONDS ?? null, maxAgeSeconds: config.SANDBOX_MAX_AGE_SECONDS },
    orgSandboxLimit: config.ORG_SANDBOX_LIMIT,
    replicaId: config.REPLICA_ID,
    logger,
  });
  await runtimeApi.app.listen(config.PORT, config.HOST);
  runtimeApi.pool.start();
  logger.info({ url: await runtimeApi.app.getUrl(), replica: config.REPLICA_ID }, 'runtime-api listens');
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      logger.info({ signal }, 'stopping; sandboxes go on');
      setTimeout(() => process.exit(1), GRACE_MS).unref();
      void runtimeApi
        .close()
        .then(() => sandboxes.close())
        .then(
          () => process.exit(0),
          (error: unknown) => {
            logger.error({ err: error }, 'runtime-api did not end cleanly');
            process.exit(1);
          },
        );
    });
  }
} catch (error) {
  const taken = (error as { code?: unknown } | null)?.code === 'EADDRINUSE';
  logger.fatal({ err: error }, taken ? `port ${config.PORT} of ${config.HOST} is taken by another process; set PORT` : 'runtime-api could not start');
  process.exit(1);
}
