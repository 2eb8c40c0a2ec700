import { SETTINGS_VERSION } from '@slipway/db/conversations';
import { type Columns, inOrg, type SqlPool } from '@slipway/db/sql';

/**
 * Writes delivery jobs for up to `limit` conversations that have a sandbox and have not acknowledged their newest
 * settings, in one transaction.
 * @param after the last id of the batch before; `null`: from the beginning.
 * @returns their ids, in order.
 */
export function enqueueDeliveries(
  pool: SqlPool,
  orgId: string,
  after: string | null,
  limit: number,
): Promise<string[]> {
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<Columns<'app.conversation', 'id'>>(
      `SELECT c.id FROM app.conversation c
       WHERE c.org_id = $1 AND ($2::uuid IS NULL OR c.id > $2) AND c.desired = 'run' AND c.start_status = 'READY' AND c.sandbox_status = 'RUNNING'
         AND coalesce((c.checkpoint ->> 'settingsVersion')::integer, -1) <> ${SETTINGS_VERSION}
       ORDER BY c.id LIMIT $3`,
      [orgId, after, limit],
    );
    await client.query(
      `INSERT INTO app.outbox (id, org_id, queue, key, payload, enqueued_at)
       SELECT gen_random_uuid(), $1, 'conversation-deliver', id, jsonb_build_object('orgId', $1::text, 'conversationId', id), clock_timestamp() FROM unnest($2::text[]) AS id
       ON CONFLICT (queue, key) DO UPDATE SET id = excluded.id, enqueued_at = clock_timestamp()`,
      [orgId, rows.map(({ id }) => id)],
    );
    return rows.map(({ id }) => id);
  });
}
