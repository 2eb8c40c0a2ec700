import { createLogger } from '@slipway/telemetry';
import { createRuntimeApi } from './app.js';
import { backendOf } from './backends.js';
import { loadConfig } from './config.js';

const config = loadConfig(process.env);
const logger = createLogger('runtime-api', config.LOG_LEVEL);
const runtimeApi = await createRuntimeApi({
  databaseUrl: config.DATABASE_URL,
  apiKey: config.RUNTIME_API_KEY,
  encryptionKey: config.ENCRYPTION_KEY,
  activationKey: config.ACTIVATION_PRIVATE_KEY,
  backend: backendOf(config, process.env),
  poolTarget: config.POOL_TARGET,
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
    void runtimeApi.close().then(() => process.exit(0));
  });
}
