import { once } from 'node:events';
import { createLogger } from '@slipway/telemetry';
import { loadConfig } from './config.js';
import { createIdentityServer } from './server.js';

const config = loadConfig(process.env);
const logger = createLogger('embedded-identity', config.LOG_LEVEL);
const { server, close } = await createIdentityServer(config, logger);
server.listen(config.PORT, config.HOST);
await once(server, 'listening');
logger.info({ issuer: config.ISSUER_URL }, 'embedded-identity listens');

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void close().then(() => process.exit(0)));
}
