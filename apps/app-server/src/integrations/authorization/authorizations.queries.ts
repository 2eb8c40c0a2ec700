import type { Columns, PoolClient, SqlPool } from '@slipway/db/sql';
import type { Installation } from '@slipway/integrations/credentials';

/** What the provider has said about an authorization. */
export interface Found extends Installation {
  readonly scopes: readonly string[] | null;
}

/** Of whose session, in whose browser. */
export interface Beginner {
  readonly userId: string;
  readonly sessionId: string;
}

export interface NewRequest extends Beginner {
  readonly id: string;
  readonly connectionId: string;
  readonly stateHash: Buffer;
  readonly nonceHash: Buffer;
  readonly expiresAt: Date;
}

export async function insertRequest(client: PoolClient, orgId: string, made: NewRequest): Promise<void> {
  await client.query(
    `INSERT INTO app.authorization_request (org_id, id, user_id, session_id, connection_id, state_hash, nonce_hash, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [orgId, made.id, made.userId, made.sessionId, made.connectionId, made.stateHash, made.nonceHash, made.expiresAt],
  );
}

/** Ids of what is over in the organization, and of the user's own all but the newest `keep`. */
export async function outdatedRequests(
  client: PoolClient,
  orgId: string,
  userId: string,
  { keep, now }: { readonly keep: number; readonly now: Date },
): Promise<Array<{ id: string; connectionId: string }>> {
  const { rows } = await client.query<Columns<'app.authorization_request', 'id'> & { connectionId: string }>(
    `SELECT id, connection_id AS "connectionId" FROM app.authorization_request r WHERE org_id = $1 AND (expires_at <= $2 OR (user_id = $3
       AND id NOT IN (SELECT id FROM app.authorization_request WHERE org_id = $1 AND user_id = $3 ORDER BY expires_at DESC LIMIT $4)))`,
    [orgId, now, userId, keep],
  );
  return rows;
}

export interface TakenRequest {
  readonly id: string;
  readonly org_id: string;
  readonly user_id: string;
  readonly session_id: string;
  readonly connection_id: string;
  readonly nonce_hash: Buffer;
  /** False: it was taken before, or is over. */
  readonly usable: boolean;
}

/** The request of a state: usable once, whoever brings it. `null`: no authorization was begun with it. */
export async function takeRequest(pool: SqlPool, stateHash: Buffer, now: Date): Promise<TakenRequest | null> {
  const { rows } = await pool.query<TakenRequest>('SELECT * FROM app.take_authorization_request($1, $2)', [
    stateHash,
    now,
  ]);
  return rows[0] ?? null;
}

/** What the provider has said; to be confirmed until `expiresAt`. False: it is not there any more. */
export async function noteFound(
  client: PoolClient,
  orgId: string,
  id: string,
  { found, expiresAt }: { readonly found: Found; readonly expiresAt: Date },
): Promise<boolean> {
  const { rowCount } = await client.query(
    'UPDATE app.authorization_request SET found = $3, expires_at = $4 WHERE org_id = $1 AND id = $2',
    [orgId, id, JSON.stringify(found), expiresAt],
  );
  return rowCount === 1;
}

export type PendingRow = Columns<'app.authorization_request', 'found' | 'expires_at', { found: Found }>;

export interface PendingBy {
  readonly connectionId: string;
  readonly id: string;
  readonly by: Beginner;
  readonly now: Date;
}

/** What waits for confirmation in this very session. */
export async function findPending(
  client: PoolClient,
  orgId: string,
  { connectionId, id, by, now }: PendingBy,
): Promise<PendingRow | null> {
  const { rows } = await client.query<PendingRow>(
    `SELECT found, expires_at FROM app.authorization_request
     WHERE org_id = $1 AND connection_id = $2 AND id = $3 AND user_id = $4 AND session_id = $5 AND found IS NOT NULL AND expires_at > $6`,
    [orgId, connectionId, id, by.userId, by.sessionId, now],
  );
  return rows[0] ?? null;
}

/** @returns false when another has taken it. */
export async function deleteRequest(client: PoolClient, orgId: string, id: string): Promise<boolean> {
  const { rowCount } = await client.query('DELETE FROM app.authorization_request WHERE org_id = $1 AND id = $2', [
    orgId,
    id,
  ]);
  return rowCount === 1;
}

/** Has the connection act as who the provider has named. A connection that is disabled stays so. */
export async function installAs(
  client: PoolClient,
  orgId: string,
  connectionId: string,
  { ids, mention, account }: Found,
): Promise<void> {
  await client.query(
    `UPDATE app.integration_connection SET own = own || jsonb_build_object('ids', $3::jsonb) || CASE WHEN $4::text IS NULL THEN '{}' ELSE jsonb_build_object('mention', $4::text) END,
       account = CASE WHEN platform THEN account ELSE coalesce($5, account) END,
       state = CASE WHEN state = 'needs-attention' THEN CASE WHEN verified_at IS NULL THEN 'unverified' ELSE 'active' END ELSE state END,
       state_reason = NULL, updated_at = now()
     WHERE org_id = $1 AND id = $2`,
    [orgId, connectionId, JSON.stringify(ids), mention, account],
  );
}
