import { asSystem, type SqlPool } from '@slipway/db/sql';

/** A key as it is stored. */
export interface StoredKey {
  readonly id: string;
  readonly orgId: string;
  readonly conversationId: string;
  readonly userId: string | null;
  /** Empty means every model. */
  readonly models: readonly string[];
  readonly hash: Buffer;
  /** Provider keys of the person's or the organization's own, as `sealOwnProviders` (routing/own-keys.ts) made it; absent or `null`: none. */
  readonly sealedProviders?: Buffer | null;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  readonly revoked: boolean;
  /** A spent budget that holds it back, and until when, in milliseconds since 1970; `null`: none. */
  readonly stop: { readonly reason: string; readonly until: number } | null;
}

interface KeyRow {
  org_id: string;
  conversation_id: string;
  user_id: string | null;
  models: string[];
  hash: Buffer;
  expires_at: Date;
  revoked_at: Date | null;
  stop_reason: string | null;
  stop_until: Date | null;
}

/** One round trip; the organization comes to light by it. `null` when there is no such key. */
export async function findKey(pool: SqlPool, keyId: string): Promise<StoredKey | null> {
  const { rows } = await pool.query<KeyRow>({ name: 'find-key', text: 'SELECT * FROM gateway.find_key_and_stop($1)', values: [keyId] });
  const row = rows[0];
  if (row === undefined) return null;
  return {
    id: keyId,
    orgId: row.org_id,
    conversationId: row.conversation_id,
    userId: row.user_id,
    models: row.models,
    hash: row.hash,
    expiresAt: row.expires_at.getTime(),
    revoked: row.revoked_at !== null,
    stop: row.stop_reason === null || row.stop_until === null ? null : { reason: row.stop_reason, until: row.stop_until.getTime() },
  };
}

/** Stores a key and ends those that the conversation had. Answers the ids of the ended ones. */
export async function issueKey(
  pool: SqlPool,
  orgId: string,
  key: { id: string; conversationId: string; userId: string | null; alias: string | null; models: readonly string[]; hash: Buffer; expiresAt: Date },
): Promise<string[]> {
  const { rows } = await pool.query<{ ended: string[] }>('SELECT gateway.issue_key($1, $2, $3, $4, $5, $6, $7, $8) AS ended', [
    key.id,
    orgId,
    key.conversationId,
    key.userId,
    key.alias,
    key.models,
    key.hash,
    key.expiresAt,
  ]);
  return rows[0]?.ended ?? [];
}

/** Ends every key of a conversation. The caller holds the master key and names no organization. Answers the ids of the ended ones. */
export async function revokeKeys(pool: SqlPool, conversationId: string): Promise<string[]> {
  return asSystem(pool, 'slipway_gateway_system', 'a conversation ends its keys', async (client) => {
    const { rows } = await client.query<{ id: string }>(
      'UPDATE gateway.virtual_key SET revoked_at = now() WHERE conversation_id = $1 AND revoked_at IS NULL RETURNING id',
      [conversationId],
    );
    return rows.map((row) => row.id);
  });
}
