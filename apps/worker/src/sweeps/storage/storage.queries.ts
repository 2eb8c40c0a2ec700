import { type Columns, inOrg, type SqlPool } from '@slipway/db/sql';
import { system } from '../../conversations/conversation.queries.js';

/** The limit of every organization without one of its own. Bytes; 0: none. */
export async function writeDefaultLimit(pool: SqlPool, bytes: number): Promise<void> {
  await pool.query(
    `INSERT INTO app.storage_default AS d (limit_bytes) VALUES ($1)
     ON CONFLICT (id) DO UPDATE SET limit_bytes = excluded.limit_bytes, changed_at = now() WHERE d.limit_bytes <> excluded.limit_bytes`,
    [bytes],
  );
}

export interface Miscounted {
  readonly orgId: string;
  readonly id: string;
}

/**
 * Compares what conversations count with their rows, from one snapshot of the database: what is being written is no
 * difference.
 * @param after the last id of the page before; `null`: from the beginning.
 * @returns the last id checked, `null` at the end, and those whose count is off.
 */
export function compareCounts(
  pool: SqlPool,
  after: string | null,
  limit: number,
): Promise<{ last: string | null; miscounted: Miscounted[] }> {
  return system(pool, 'storage sweep', async (client) => {
    const { rows } = await client.query<Miscounted & { off: boolean }>(
      `SELECT c.id, c.org_id AS "orgId", (c.log_bytes, c.blob_bytes, c.snapshot_bytes) IS DISTINCT FROM (m.log_bytes, m.blob_bytes, m.snapshot_bytes)
         OR c.granted_bytes < c.log_bytes + c.blob_bytes + c.snapshot_bytes AS off
       FROM (SELECT * FROM app.conversation WHERE $1::uuid IS NULL OR id > $1 ORDER BY id LIMIT $2) c, app.measure_storage(c.org_id, c.id) m ORDER BY c.id`,
      [after, limit],
    );
    return { last: rows.length < limit ? null : (rows.at(-1)?.id ?? null), miscounted: rows.filter(({ off }) => off) };
  });
}

/** @returns by how many bytes the conversation's count was off; 0 for one that is gone. */
export function recount(pool: SqlPool, { orgId, id }: Miscounted): Promise<number> {
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<{ drift: number | null }>('SELECT app.recount_storage($1, $2) AS drift', [
      orgId,
      id,
    ]);
    return rows[0]?.drift ?? 0;
  });
}

/** Organizations whose sum was checked longest ago. */
export function orgsToSettle(pool: SqlPool, olderThanSeconds: number, limit: number): Promise<string[]> {
  return system(pool, 'storage sweep', async (client) => {
    const { rows } = await client.query<Columns<'app.org', 'id'>>(
      `SELECT o.id FROM app.org o LEFT JOIN app.org_storage s ON s.org_id = o.id
       WHERE s.counted_at IS NULL AND EXISTS (SELECT 1 FROM app.conversation c WHERE c.org_id = o.id) OR s.counted_at < now() - $1 * interval '1 second'
       ORDER BY s.counted_at NULLS FIRST LIMIT $2`,
      [olderThanSeconds, limit],
    );
    return rows.map(({ id }) => id);
  });
}

/** @returns by how many bytes the organization's sum was off. */
export function settle(pool: SqlPool, orgId: string): Promise<number> {
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<{ drift: number }>('SELECT app.settle_storage($1) AS drift', [orgId]);
    return rows[0]?.drift ?? 0;
  });
}

/** Of all organizations together, without a name of any: a label for each would be a series for each. */
export interface StorageTotals {
  readonly usedBytes: number;
  /** At 80 % of their limit and more, and those of them that have no room for another block. */
  readonly near: number;
  readonly full: number;
  /** The share that the fullest one uses, of 1. */
  readonly fullest: number;
  readonly driftBytes: number;
}

export function storageTotals(pool: SqlPool): Promise<StorageTotals> {
  return system(pool, 'metrics', async (client) => {
    const { rows } = await client.query<StorageTotals>(
      `SELECT coalesce(sum(used_bytes), 0)::float8 AS "usedBytes",
         (count(*) FILTER (WHERE used_bytes >= 0.8 * l.bytes))::int AS near, (count(*) FILTER (WHERE used_bytes + 65536 > l.bytes))::int AS full,
         coalesce(max(used_bytes / l.bytes::float8), 0)::float8 AS fullest, coalesce(sum(abs(drift_bytes)), 0)::float8 AS "driftBytes"
       FROM app.org_storage s, LATERAL (SELECT app.storage_limit(s.limit_bytes) AS bytes) l`,
    );
    return rows[0] ?? { usedBytes: 0, near: 0, full: 0, fullest: 0, driftBytes: 0 };
  });
}
