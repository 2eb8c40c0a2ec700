import { setFlagsFromString } from 'node:v8';
import { GracefulStop } from '@slipway/service';
import { createGatheringLogger, createLogger, logSettings } from '@slipway/telemetry';
import { loadConfig } from './config.js';
import { startGateway } from './gateway.js';

/** Calls under way may go on for this long after the drain; an agent repeats one that is broken off. Milliseconds. */
const CALLS_MS = 20_000;
/** Longest to store the ledger and give up connections. Milliseconds. */
const CLOSE_MS = 8_000;

// Bodies stand outside of the heap and yet count for it: with a heap as small as this one's they would bring on a whole
// collection every forty requests of 400 kB, which takes twice the processor time of the requests themselves and holds
// up every stream beside them.
setFlagsFromString('--heap-growing-percent=300');

const config = loadConfig(process.env);
const logger = createLogger('llm-gateway', logSettings(config));
const stop = new GracefulStop({ logger, drainSeconds: config.DRAIN_SECONDS });
const gateway = await startGateway(
  config,
  logger,
  stop,
  createGatheringLogger('llm-gateway', logSettings(config)),
).catch((error: unknown) => {
  logger.fatal({ err: error }, 'llm-gateway failed to start');
  process.exit(1);
});
logger.info({ url: gateway.url }, 'llm-gateway listening');

stop.onSignals([
  stop.requests(CALLS_MS, () => gateway.breakOff()),
  { name: 'ledger', withinMs: CLOSE_MS, run: () => gateway.close() },
]);
