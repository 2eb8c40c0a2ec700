import { createLogger } from '@slipway/telemetry';
import { loadConfig } from './config.js';
import { startGateway } from './gateway.js';

/** Requests under way and sockets may go on for this long after SIGTERM. Milliseconds; below Kubernetes' 30 s. */
const GRACE_MS = 10_000;

const config = loadConfig(process.env);
const logger = createLogger('sandbox-gateway', config.LOG_LEVEL);
const gateway = await startGateway(config, logger).catch((error: unknown) => {
  const taken = (error as { code?: unknown } | null)?.code === 'EADDRINUSE';
  logger.fatal({ err: error }, taken ? `port ${config.PORT} of ${config.HOST} is taken by another process; set PORT` : 'sandbox-gateway did not start');
  process.exit(1);
});
logger.info({ url: gateway.url }, 'sandbox-gateway listens');

let stopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    if (stopping) return;
    stopping = true;
    void gateway.stop(GRACE_MS).then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error({ err: error }, 'sandbox-gateway did not stop cleanly');
        process.exit(1);
      },
    );
  });
}
