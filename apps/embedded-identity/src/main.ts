import { once } from 'node:events';
import { GracefulStop } from '@slipway/service';
import {
  createLogger,
  logSettings,
  METRICS_CONTENT_TYPE,
  metricsAddress,
  processMetrics,
  startMetricsServer,
} from '@slipway/telemetry';
import { loadConfig } from './config.js';
import { createIdentityServer } from './server.js';

/** Requests under way may go on for this long after the drain; then the store is closed. Milliseconds. */
const REQUESTS_MS = 5_000;

const config = loadConfig(process.env);
const logger = createLogger('embedded-identity', logSettings(config));
try {
  const stop = new GracefulStop({ logger, drainSeconds: config.DRAIN_SECONDS });
  const { server, close } = await createIdentityServer(config, logger, stop.stopping);
  stop.serve(server);
  await startMetricsServer({
    ...metricsAddress(config),
    contentType: METRICS_CONTENT_TYPE,
    metrics: async () => processMetrics('embedded-identity'),
    readiness: async () => ({ reason: null, notes: {} }),
  });
  stop.onSignals([stop.requests(REQUESTS_MS), { name: 'store', withinMs: REQUESTS_MS, run: close }]);
  server.listen(config.PORT, config.HOST);
  await once(server, 'listening');
  logger.info({ issuer: config.ISSUER_URL }, 'embedded-identity listening');
} catch (error) {
  const taken = (error as { code?: unknown } | null)?.code === 'EADDRINUSE';
  logger.fatal(
    { err: error },
    taken
      ? `port ${config.PORT} of ${config.HOST} is in use by another process; set PORT`
      : 'embedded-identity failed to start',
  );
  process.exit(1);
}
