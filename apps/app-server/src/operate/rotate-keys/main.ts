// Puts everything that is sealed under the present ENCRYPTION_KEY and ends: 0 when all of it is, 1 with the places that
// no key opens. docs/secrets.md says when to run it.
import { createPool } from '@slipway/db/sql';
import { systemClock } from '@slipway/domain';
import { createLogger, logSettings } from '@slipway/telemetry';
import { loadRotateKeysConfig } from './config.js';
import { rotateKeys } from './rotate-keys.js';

// Each row is a transaction of its own: what is ended in the middle is taken up by the next run.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));

const config = loadRotateKeysConfig(process.env);
const logger = createLogger('rotate-keys', logSettings(config));
const open = (url: string) =>
  createPool({
    url,
    max: 2,
    applicationName: 'rotate-keys',
    withDeleted: true,
    onError: (error) => logger.warn({ reason: error.message }, 'database connection failed'),
  });
try {
  const { unopened, ...report } = await rotateKeys(
    { app: open(config.DATABASE_APP_URL), runtime: open(config.DATABASE_RUNTIME_URL) },
    { current: config.ENCRYPTION_KEY, previous: config.ENCRYPTION_KEY_PREVIOUS },
    systemClock,
    config.ROTATE_DATA_KEYS_OLDER_THAN_DAYS,
  );
  logger.info(report, 'sealed values re-encrypted under the present key');
  for (const place of unopened) logger.error({ place }, 'no key decrypts this value, left as it is');
  process.exit(unopened.length === 0 ? 0 : 1);
} catch (error) {
  logger.fatal({ err: error }, 'key rotation failed');
  process.exit(1);
}
