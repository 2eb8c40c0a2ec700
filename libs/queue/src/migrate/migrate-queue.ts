import { runMigrations } from 'bullmq';
import pg from 'pg';

/** BullMQ's fixed name for a pool that it is given. */
export const QUEUE_SCHEMA = 'bullmq';

/**
 * Brings the schema of the Postgres queue to BullMQ's newest version and lets `role` work in it. Repeatable; safe when
 * several start at once.
 *
 * @param ownerUrl connects as one who may create schemas.
 * @param role who adds and takes jobs: a service's own role. Payloads are ids only, so its tables carry no row-level
 * security.
 */
export async function migrateQueue(ownerUrl: string, role: string): Promise<void> {
  const client = new pg.Client({ connectionString: ownerUrl, application_name: 'slipway-migrate' });
  await client.connect();
  try {
    await runMigrations(client, QUEUE_SCHEMA);
    const name = client.escapeIdentifier(role);
    await client.query(
      `BEGIN;
       SELECT pg_advisory_xact_lock(hashtext('slipway:queue-grants'));
       GRANT USAGE ON SCHEMA ${QUEUE_SCHEMA} TO ${name};
       GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${QUEUE_SCHEMA} TO ${name};
       GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${QUEUE_SCHEMA} TO ${name};
       COMMIT`,
    );
  } finally {
    await client.end();
  }
}
