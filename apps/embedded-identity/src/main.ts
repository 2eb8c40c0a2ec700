import { once } from 'node:events';
import { createLogger } from '@slipway/telemetry';
import { loadConfig } from './config.js';
import { createIdentityServer } from './server.js';

const config = loadConfig(process.env);
const logger = createLogger('embedded-identity', config.LOG_LEVEL);
try {
  const { server, close } = await createIdentityServer(config, logger);
  server.listen(config.PORT, config.HOST);
  await once(server, 'listening');
  logger.info({ issuer: config.ISSUER_URL }, 'embedded-identity listens');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void close().then(() => process.exit(0)));
  }
} catch (error) {
  const taken = (error as { code?: unknown } | null)?.code === 'EADDRINUSE';
  logger.fatal({ err: error }, taken ? `port ${config.PORT} of ${config.HOST} is taken by another process; set PORT` : 'embedded-identity could not start');
  process.exit(1);
}
