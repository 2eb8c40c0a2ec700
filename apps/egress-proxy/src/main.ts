import { GracefulStop } from '@slipway/service';
import { createLogger, logSettings } from '@slipway/telemetry';
import { loadConfig } from './config.js';
import { startEgressProxy } from './egress-proxy.js';

/**
 * What is open may go on for this long after the drain. Milliseconds; a download that is broken off can be asked for
 * again.
 */
const SETTLE_MS = 15_000;
/** Longest for the requests that are left, and to give up connections. Milliseconds. */
const CLOSE_MS = 3_000;

const config = loadConfig(process.env);
const logger = createLogger('egress-proxy', logSettings(config));
const stop = new GracefulStop({ logger, drainSeconds: config.DRAIN_SECONDS });
const proxy = await startEgressProxy(config, logger, stop).catch((error: unknown) => {
  const taken = (error as { code?: unknown } | null)?.code === 'EADDRINUSE';
  logger.fatal(
    { err: error },
    taken
      ? `port ${config.EGRESS_PORT} or ${config.PORT} of ${config.HOST} is in use by another process; set EGRESS_PORT, PORT`
      : 'egress-proxy failed to start',
  );
  process.exit(1);
});
logger.info({ url: proxy.url, health: proxy.healthUrl }, 'egress-proxy listening');

stop.onSignals([
  { name: 'lines', withinMs: SETTLE_MS + CLOSE_MS, run: () => proxy.settle(SETTLE_MS) },
  stop.requests(CLOSE_MS),
  { name: 'proxy', withinMs: CLOSE_MS, run: () => proxy.close() },
]);
