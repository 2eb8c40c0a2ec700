import { LARGEST_CONVERSATIONS } from '@slipway/contracts/sandboxes';
import type { Columns, PoolClient } from '@slipway/db/sql';

export interface StorageRow {
  readonly used: number;
  readonly limit: number | null;
  readonly reserve: number | null;
  readonly counted_at: Date | null;
  readonly log: number;
  readonly payloads: number;
  readonly changes: number;
  readonly granted: number;
  readonly conversations: number;
}

export async function readStorage(client: PoolClient, orgId: string): Promise<StorageRow> {
  const { rows } = await client.query<StorageRow>(
    `SELECT coalesce(s.used_bytes, 0) AS used, l.bytes AS limit, app.storage_reserve(l.bytes) AS reserve, s.counted_at, c.*
     FROM (SELECT coalesce(sum(log_bytes), 0)::bigint AS log, coalesce(sum(blob_bytes), 0)::bigint AS payloads, coalesce(sum(snapshot_bytes), 0)::bigint AS changes,
             coalesce(sum(granted_bytes), 0)::bigint AS granted, count(*)::bigint AS conversations FROM app.conversation WHERE org_id = $1) c
       LEFT JOIN app.org_storage s ON s.org_id = $1, LATERAL (SELECT app.storage_limit(s.limit_bytes) AS bytes) l`,
    [orgId],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('a sum answered no row');
  return row;
}

export type LargeConversation = Columns<
  'app.conversation',
  'id' | 'title' | 'created_by' | 'created_by_label' | 'updated_at'
> & {
  readonly granted: number;
  readonly log: number;
  readonly payloads: number;
  readonly changes: number;
};

export async function readLargest(client: PoolClient, orgId: string): Promise<LargeConversation[]> {
  const { rows } = await client.query<LargeConversation>(
    `SELECT id, title, created_by, created_by_label, updated_at, granted_bytes AS granted, log_bytes AS log, blob_bytes AS payloads, snapshot_bytes AS changes
     FROM app.conversation WHERE org_id = $1 AND deleted_at IS NULL ORDER BY granted_bytes DESC, log_bytes + blob_bytes + snapshot_bytes DESC, id LIMIT $2`,
    [orgId, LARGEST_CONVERSATIONS],
  );
  return rows;
}

/** Whose it is, with the row locked; `null`: there is none. */
export async function lockOwner(
  client: PoolClient,
  orgId: string,
  id: string,
): Promise<{ createdBy: string; title: string; bytes: number } | null> {
  const { rows } = await client.query<Columns<'app.conversation', 'created_by' | 'title'> & { bytes: number }>(
    'SELECT created_by, title, granted_bytes AS bytes FROM app.conversation WHERE org_id = $1 AND id = $2 FOR UPDATE',
    [orgId, id],
  );
  return rows[0] === undefined ? null : { createdBy: rows[0].created_by, title: rows[0].title, bytes: rows[0].bytes };
}

/** Deletes the row with its counts, outbox jobs and sandbox grants. The job deletes everything else. */
export async function deleteConversationRow(client: PoolClient, orgId: string, id: string): Promise<void> {
  await client.query(
    'UPDATE app.sandbox_grant SET revoked_at = now() WHERE org_id = $1 AND conversation_id = $2 AND revoked_at IS NULL',
    [orgId, id],
  );
  await client.query('DELETE FROM app.outbox WHERE org_id = $1 AND key = $2', [orgId, id]);
  await client.query('SELECT app.delete_conversation($1, $2)', [orgId, id]);
}

/** The highest share that is reached, as `warned_percent` has it. */
const REACHED =
  'CASE WHEN s.used_bytes + 65536 > l.bytes THEN 100 WHEN s.used_bytes >= 0.8 * l.bytes THEN 80 ELSE 0 END';

export interface Reached {
  readonly slug: string;
  readonly name: string;
  readonly used: number;
  readonly limit: number;
  readonly percent: 80 | 100;
}

/**
 * Organizations that have reached a share of their limit not warned of yet, or are well below the last one warned of.
 * As the system role.
 */
export async function orgsToWarn(client: PoolClient): Promise<string[]> {
  const { rows } = await client.query<Columns<'app.org_storage', 'org_id'>>(
    `SELECT s.org_id FROM app.org_storage s, LATERAL (SELECT app.storage_limit(s.limit_bytes) AS bytes) l
     WHERE ${REACHED} > s.warned_percent OR (s.warned_percent > 0 AND coalesce(s.used_bytes < 0.7 * l.bytes, true)) LIMIT 100`,
  );
  return rows.map(({ org_id }) => org_id);
}

/** Marks what is reached. @returns the warnings to send; `null`: none, or another process sends them. */
export async function takeWarning(client: PoolClient, orgId: string): Promise<Reached | null> {
  const { rows } = await client.query<Reached>(
    `WITH now_at AS (
       SELECT s.org_id, s.warned_percent, s.used_bytes, l.bytes, ${REACHED} AS percent FROM app.org_storage s, LATERAL (SELECT app.storage_limit(s.limit_bytes) AS bytes) l
       WHERE s.org_id = $1 FOR UPDATE OF s
     ), marked AS (
       UPDATE app.org_storage s SET warned_percent = CASE WHEN n.percent > n.warned_percent OR coalesce(n.used_bytes < 0.7 * n.bytes, true) THEN n.percent ELSE n.warned_percent END
       FROM now_at n WHERE s.org_id = n.org_id
     )
     SELECT o.slug, o.name, n.used_bytes AS used, n.bytes AS limit, n.percent FROM now_at n JOIN app.org o ON o.id = n.org_id WHERE n.percent > n.warned_percent`,
    [orgId],
  );
  return rows[0] ?? null;
}
