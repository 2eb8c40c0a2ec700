import { GracefulStop } from '@slipway/service';
import { createLogger, flushTraces, logSettings, metricsAddress, useTracing } from '@slipway/telemetry';
import { createMetrics, installTelemetry } from '@slipway/telemetry/http';
import { preloadedTracing } from '@slipway/telemetry/preloaded';
import Fastify from 'fastify';
import { loadConfig } from './config.js';
import { startWorker } from './worker.js';

/** Jobs under way get 5 s, then their signal (`Queue.close`); connections end after them. Milliseconds. */
const WORK_MS = 20_000;
/** For probes under way. Milliseconds. */
const PROBES_MS = 2_000;

const config = loadConfig(process.env);
const logger = createLogger('worker', logSettings(config));
useTracing(preloadedTracing(logger));
// A worker has no clients: no load balancer to wait for, and released jobs run elsewhere at once.
const stop = new GracefulStop({ logger, drainSeconds: 0 });
const metrics = createMetrics('worker');
const worker = await startWorker(config, logger, metrics);
const server = Fastify();
installTelemetry(server, {
  registry: metrics,
  logger,
  ready: (signal) => worker.ready(signal),
  stopping: stop.stopping,
  metrics: metricsAddress(config),
});
stop.serve(server.server);
stop.onSignals([
  { name: 'jobs', withinMs: WORK_MS, run: () => worker.close() },
  stop.requests(PROBES_MS),
  flushTraces(),
]);
await server.listen({ host: config.HOST, port: config.PORT });
logger.info({ port: config.PORT }, 'worker ready for jobs');
