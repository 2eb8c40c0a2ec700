import 'reflect-metadata';
import { GracefulStop } from '@slipway/service';
import { createGatheringLogger, createLogger, flushTraces, logSettings, useTracing } from '@slipway/telemetry';
import { createMetrics } from '@slipway/telemetry/http';
import { preloadedTracing } from '@slipway/telemetry/preloaded';
import { createApp } from './app.js';
import { loadConfig } from './config.js';
import { Hubs } from './log/events/hubs.js';
import { RealtimeGateway } from './log/realtime/realtime.gateway.js';

/** Requests under way may go on for this long after the drain. Milliseconds; a batch of events takes far less. */
const REQUESTS_MS = 10_000;
/** Longest to give up connections to queue, bus and database. Milliseconds. */
const CLOSE_MS = 10_000;

const config = loadConfig(process.env);
const logger = createLogger('app-server', logSettings(config));
useTracing(preloadedTracing(logger));
try {
  const stop = new GracefulStop({ logger, drainSeconds: config.DRAIN_SECONDS });
  const app = await createApp({
    config,
    logger,
    access: createGatheringLogger('app-server', logSettings(config)),
    metrics: createMetrics('app-server'),
    stopping: stop.stopping,
  });
  stop.serve(app.getHttpServer());
  stop.onSignals(
    [
      { name: 'streams', withinMs: CLOSE_MS, run: () => app.get(Hubs).endStreams() },
      stop.requests(REQUESTS_MS),
      { name: 'app', withinMs: CLOSE_MS, run: () => app.close() },
      flushTraces(),
    ],
    [{ name: 'sockets', run: (drainMs) => app.get(RealtimeGateway).drain(drainMs) }],
  );
  await app.listen(config.PORT, config.HOST);
  logger.info({ url: await app.getUrl() }, 'app-server listening');
} catch (error) {
  const taken = (error as { code?: unknown } | null)?.code === 'EADDRINUSE';
  logger.fatal(
    { err: error },
    taken
      ? `port ${config.PORT} of ${config.HOST} is in use by another process; set PORT`
      : 'app-server failed to start',
  );
  process.exit(1);
}
