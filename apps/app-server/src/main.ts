import 'reflect-metadata';
import { createLogger } from '@slipway/telemetry';
import { createMetrics } from '@slipway/telemetry/http';
import { createApp } from './app.js';
import { loadConfig } from './config.js';

const config = loadConfig(process.env);
const logger = createLogger('app-server', config.LOG_LEVEL);
const app = await createApp({ config, logger, metrics: createMetrics('app-server') });
await app.listen(config.PORT, config.HOST);
logger.info({ url: await app.getUrl() }, 'app-server listens');
