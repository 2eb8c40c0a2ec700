// Brings all schemas and the queue's tables to the newest migration and ends: 0 when they are, 1 with a sentence in the
// log when not. Safe to repeat and to run twice at once.
import { fileURLToPath } from 'node:url';
import { migrate } from '@slipway/db/migrate';
import { SlipwayError } from '@slipway/errors';
import { migrateQueue } from '@slipway/queue/migrate';
import { createLogger, logSettings } from '@slipway/telemetry';
import { loadMigrateConfig } from './config.js';
import { waitForPostgres } from './wait-for-postgres.js';

// A migration is a transaction: what is ended in the middle of one leaves nothing of it.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));

const config = loadMigrateConfig(process.env);
const logger = createLogger('migrate', logSettings(config));
const passwordOf = (url: string): string => decodeURIComponent(new URL(url).password);
try {
  await waitForPostgres(config.DATABASE_OWNER_URL, config.MIGRATE_WAIT_SECONDS * 1000, (reason) =>
    logger.warn({ reason }, 'waiting for Postgres'),
  );
  const { applied, functions } = await migrate({
    ownerUrl: config.DATABASE_OWNER_URL,
    directory: config.MIGRATIONS_DIR ?? fileURLToPath(new URL('./prisma', import.meta.url)),
    passwords: {
      app: passwordOf(config.DATABASE_APP_URL),
      runtime: passwordOf(config.DATABASE_RUNTIME_URL),
      gateway: passwordOf(config.DATABASE_GATEWAY_URL),
      sandbox: passwordOf(config.DATABASE_SANDBOX_URL),
    },
    log: (line) => logger.info(line),
  });
  await migrateQueue(config.DATABASE_OWNER_URL, 'slipway_app');
  logger.info(
    { applied: applied.length, functions: functions.length },
    applied.length + functions.length === 0
      ? 'database is at the newest migration'
      : 'database migrated to the newest migration',
  );
  process.exit(0);
} catch (error) {
  // One sentence for the operator: the stack does not help with an unreachable Postgres.
  if (error instanceof SlipwayError) logger.fatal(`database not migrated: ${error.detail}`);
  else logger.fatal({ err: error }, 'database not migrated');
  process.exit(1);
}
