import type { PoolClient } from '../sql/index.js';

/** A durable checkpoint, as much of it as a restore or the next transfer needs. */
export interface StoredCheckpoint {
  readonly id: string;
  readonly seq: number;
  readonly root: Buffer;
  readonly contentHash: Buffer;
  readonly complete: boolean;
}

/** A pack of a checkpoint, its key sealed (`packKeyContext`). */
export interface HeldPack {
  readonly id: string;
  readonly bytes: number;
  readonly wrappedKey: Buffer;
  readonly keyVersion: number;
}

/** The newest durable checkpoint at or before `seq`; `null`: there is none. */
export async function newestCheckpoint(
  client: PoolClient,
  orgId: string,
  { conversationId, seq }: { readonly conversationId: string; readonly seq: number | null },
): Promise<StoredCheckpoint | null> {
  const { rows } = await client.query<StoredCheckpoint>(
    `SELECT id, seq, root, content_hash AS "contentHash", complete FROM app.checkpoint
     WHERE org_id = $1 AND conversation_id = $2 AND state = 'durable' AND ($3::bigint IS NULL OR seq <= $3)
     ORDER BY seq DESC, durable_at DESC, id DESC LIMIT 1`,
    [orgId, conversationId, seq],
  );
  return rows[0] ?? null;
}

/** The packs of a checkpoint by id; none for one that expired or is not there. */
export async function packsOf(client: PoolClient, orgId: string, checkpointId: string): Promise<readonly HeldPack[]> {
  const { rows } = await client.query<HeldPack>(
    `SELECT p.id, p.bytes, p.wrapped_key AS "wrappedKey", p.key_version AS "keyVersion"
     FROM app.checkpoint_pack r JOIN app.pack p ON p.org_id = r.org_id AND p.id = r.pack_id
     WHERE r.org_id = $1 AND r.checkpoint_id = $2 ORDER BY p.created_at, p.id`,
    [orgId, checkpointId],
  );
  return rows;
}
