import { createLogger } from '@slipway/telemetry';
import { createMetrics, installTelemetry } from '@slipway/telemetry/http';
import Fastify from 'fastify';
import { loadConfig } from './config.js';
import { startWorker } from './worker.js';

const config = loadConfig(process.env);
const logger = createLogger('worker', config.LOG_LEVEL);
const worker = await startWorker(config, logger);
const server = Fastify();
installTelemetry(server, { registry: createMetrics('worker'), logger, ready: (signal) => worker.ready(signal) });
await server.listen({ host: config.HOST, port: config.PORT });
logger.info({ port: config.PORT }, 'worker takes jobs');

let ending = false;
const end = (signal: string): void => {
  if (ending) return;
  ending = true;
  logger.info({ signal }, 'worker is ending');
  void Promise.all([server.close(), worker.close()]).then(
    () => process.exit(0),
    (error: unknown) => {
      logger.error({ err: error }, 'the worker did not end cleanly');
      process.exit(1);
    },
  );
};
process.on('SIGTERM', end);
process.on('SIGINT', end);
