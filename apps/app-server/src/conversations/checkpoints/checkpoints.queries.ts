import type { Checkpoint } from '@slipway/contracts/conversations';
import type { PoolClient } from '@slipway/db/sql';

/** Where a page ended. */
export interface CheckpointPlace {
  readonly seq: number;
  readonly durableAt: string;
  readonly id: string;
}

export type CheckpointRow = Omit<Checkpoint, 'takenAt'> & { readonly takenAt: Date; readonly durableAt: Date };

const COLUMNS = `id, seq, reason, name, files, logical_bytes AS bytes, new_bytes AS "newBytes", complete,
  encode(content_hash, 'hex') AS "contentHash", taken_at AS "takenAt", durable_at AS "durableAt"`;

/** Newest first. `null`: there is no such conversation. */
export async function listCheckpoints(
  client: PoolClient,
  orgId: string,
  { conversationId, after, limit }: { conversationId: string; after: CheckpointPlace | null; limit: number },
): Promise<CheckpointRow[] | null> {
  const known = await client.query('SELECT 1 FROM app.conversation WHERE org_id = $1 AND id = $2', [
    orgId,
    conversationId,
  ]);
  if (known.rows.length === 0) return null;
  const { rows } = await client.query<CheckpointRow>(
    `SELECT ${COLUMNS} FROM app.checkpoint WHERE org_id = $1 AND conversation_id = $2 AND state = 'durable'
       AND ($3::bigint IS NULL OR (seq, durable_at, id) < ($3, $4::timestamptz, $5::uuid))
     ORDER BY seq DESC, durable_at DESC, id DESC LIMIT $6`,
    [orgId, conversationId, after?.seq ?? null, after?.durableAt ?? null, after?.id ?? null, limit],
  );
  return rows;
}

/** Locks it. `null`: it is not there, has expired, or is another conversation's. */
export async function lockCheckpoint(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  id: string,
): Promise<CheckpointRow | null> {
  const { rows } = await client.query<CheckpointRow>(
    `SELECT ${COLUMNS} FROM app.checkpoint
     WHERE org_id = $1 AND conversation_id = $2 AND id = $3 AND state = 'durable'
       AND EXISTS (SELECT 1 FROM app.conversation c WHERE c.org_id = $1 AND c.id = $2)
     FOR UPDATE`,
    [orgId, conversationId, id],
  );
  return rows[0] ?? null;
}

export async function nameCheckpoint(
  client: PoolClient,
  orgId: string,
  id: string,
  name: string | null,
): Promise<void> {
  await client.query('UPDATE app.checkpoint SET name = $3 WHERE org_id = $1 AND id = $2', [orgId, id, name]);
}
