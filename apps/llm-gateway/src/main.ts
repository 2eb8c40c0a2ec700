import { createLogger } from '@slipway/telemetry';
import { loadConfig } from './config.js';
import { startGateway } from './gateway.js';

/** Calls under way may go on for this long after SIGTERM. Milliseconds; below Kubernetes' 30 s. */
const GRACE_MS = 20_000;

const config = loadConfig(process.env);
const logger = createLogger('llm-gateway', config.LOG_LEVEL);
const gateway = await startGateway(config, logger).catch((error: unknown) => {
  logger.fatal({ err: error }, 'llm-gateway did not start');
  process.exit(1);
});
logger.info({ url: gateway.url }, 'llm-gateway listens');

let stopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    if (stopping) return;
    stopping = true;
    void gateway.stop(GRACE_MS).then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error({ err: error }, 'llm-gateway did not stop cleanly');
        process.exit(1);
      },
    );
  });
}
