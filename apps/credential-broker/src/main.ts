import { GracefulStop } from '@slipway/service';
import { createLogger, logSettings } from '@slipway/telemetry';
import { loadConfig } from './config.js';
import { startCredentialBroker } from './credential-broker.js';

/** What is open may go on for this long after the drain. Milliseconds. */
const SETTLE_MS = 15_000;
/** Longest for the requests that are left, and to give up connections. Milliseconds. */
const CLOSE_MS = 3_000;

const config = loadConfig(process.env);
const logger = createLogger('credential-broker', logSettings(config));
const stop = new GracefulStop({ logger, drainSeconds: config.DRAIN_SECONDS });
const broker = await startCredentialBroker(config, logger, stop).catch((error: unknown) => {
  const taken = (error as { code?: unknown } | null)?.code === 'EADDRINUSE';
  logger.fatal(
    { err: error },
    taken
      ? `port ${config.BROKER_PORT} or ${config.PORT} of ${config.HOST} is in use by another process; set BROKER_PORT, PORT`
      : 'credential-broker failed to start',
  );
  process.exit(1);
});
logger.info({ address: broker.address, health: broker.healthUrl }, 'credential-broker listening');

stop.onSignals([
  { name: 'tunnels', withinMs: SETTLE_MS + CLOSE_MS, run: () => broker.settle(SETTLE_MS) },
  stop.requests(CLOSE_MS),
  { name: 'broker', withinMs: CLOSE_MS, run: () => broker.close() },
]);
