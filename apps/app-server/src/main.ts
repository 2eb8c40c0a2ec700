import 'reflect-metadata';
import { createLogger } from '@slipway/telemetry';
import { createMetrics } from '@slipway/telemetry/http';
import { createApp } from './app.js';
import { loadConfig } from './config.js';

/** Requests under way may go on for this long after SIGTERM. Milliseconds; below Kubernetes' 30 s. */
const GRACE_MS = 10_000;

const config = loadConfig(process.env);
const logger = createLogger('app-server', config.LOG_LEVEL);
try {
  const app = await createApp({ config, logger, metrics: createMetrics('app-server') });
  await app.listen(config.PORT, config.HOST);
  logger.info({ url: await app.getUrl() }, 'app-server listens');
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      setTimeout(() => process.exit(1), GRACE_MS).unref();
      void app.close().then(
        () => process.exit(0),
        (error: unknown) => {
          logger.error({ err: error }, 'app-server did not end cleanly');
          process.exit(1);
        },
      );
    });
  }
} catch (error) {
  const taken = (error as { code?: unknown } | null)?.code === 'EADDRINUSE';
  logger.fatal({ err: error }, taken ? `port ${config.PORT} of ${config.HOST} is taken by another process; set PORT` : 'app-server could not start');
  process.exit(1);
}
