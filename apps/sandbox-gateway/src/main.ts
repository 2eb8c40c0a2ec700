import { GracefulStop } from '@slipway/service';
import { createLogger, logSettings } from '@slipway/telemetry';
import { loadConfig } from './config.js';
import { startGateway } from './gateway.js';

/**
 * Requests under way may go on for this long after the drain. Milliseconds; a download that is broken off can be asked
 * for again.
 */
const REQUESTS_MS = 10_000;
/** Longest to give up connections. Milliseconds. */
const CLOSE_MS = 5_000;

const config = loadConfig(process.env);
const logger = createLogger('sandbox-gateway', logSettings(config));
const stop = new GracefulStop({ logger, drainSeconds: config.DRAIN_SECONDS });
const gateway = await startGateway(config, logger, stop, () => performance.now()).catch((error: unknown) => {
  const taken = (error as { code?: unknown } | null)?.code === 'EADDRINUSE';
  logger.fatal(
    { err: error },
    taken
      ? `port ${config.PORT} of ${config.HOST} is in use by another process; set PORT`
      : 'sandbox-gateway failed to start',
  );
  process.exit(1);
});
logger.info({ url: gateway.url }, 'sandbox-gateway listening');

stop.onSignals(
  [
    stop.requests(REQUESTS_MS, () => gateway.breakOff()),
    { name: 'gateway', withinMs: CLOSE_MS, run: () => gateway.close() },
  ],
  [{ name: 'sockets', run: (drainMs) => gateway.drain(drainMs) }],
);
