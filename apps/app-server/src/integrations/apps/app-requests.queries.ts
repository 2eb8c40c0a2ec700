import type { PoolClient, SqlPool } from '@slipway/db/sql';

/** What a connection is made from once the browser is back. */
export interface RequestDetail {
  readonly name: string;
  readonly host: string;
  readonly baseUrl: string | null;
  /** Login that shall own a new app; `null`: the admin's own account. */
  readonly owner: string | null;
  /**
   * Of an installation: Slipway began the sign-in itself, with PKCE; else the provider began it after the installation.
   */
  readonly authorized?: boolean;
}

export interface NewAppRequest {
  readonly id: string;
  readonly userId: string;
  readonly sessionId: string;
  readonly kind: 'register' | 'install';
  readonly connectionId: string;
  readonly provider: string;
  readonly detail: RequestDetail;
  /** `null`: made when the form is shown. */
  readonly proof: { readonly stateHash: Buffer; readonly nonceHash: Buffer } | null;
  readonly expiresAt: Date;
}

/** Also forgets what is over in the organization, and of the user's own all but the newest `keep`. */
export async function insertAppRequest(
  client: PoolClient,
  orgId: string,
  made: NewAppRequest,
  { keep, now }: { readonly keep: number; readonly now: Date },
): Promise<void> {
  await client.query('DELETE FROM app.integration_app_request WHERE org_id = $1 AND expires_at <= $2', [orgId, now]);
  await client.query(
    `DELETE FROM app.integration_app_request WHERE org_id = $1 AND user_id = $2
       AND id NOT IN (SELECT id FROM app.integration_app_request WHERE org_id = $1 AND user_id = $2 ORDER BY expires_at DESC LIMIT $3)`,
    [orgId, made.userId, keep],
  );
  const { id, userId, sessionId, kind, connectionId, provider, detail, proof, expiresAt } = made;
  await client.query(
    `INSERT INTO app.integration_app_request (id, org_id, user_id, session_id, kind, connection_id, provider, detail, state_hash, nonce_hash, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9, $10, $11)`,
    [
      id,
      orgId,
      userId,
      sessionId,
      kind,
      connectionId,
      provider,
      JSON.stringify(detail),
      proof?.stateHash ?? null,
      proof?.nonceHash ?? null,
      expiresAt,
    ],
  );
}

export interface ShownRequest {
  readonly org_id: string;
  readonly connection_id: string;
  readonly provider: string;
  readonly detail: RequestDetail;
}

/** A registration of this very user and session whose form may be shown. */
export async function findRegistration(
  pool: SqlPool,
  id: string,
  { userId, sessionId }: { readonly userId: string; readonly sessionId: string },
  now: Date,
): Promise<ShownRequest | null> {
  const { rows } = await pool.query<ShownRequest>('SELECT * FROM app.find_integration_app_request($1, $2, $3, $4)', [
    id,
    userId,
    sessionId,
    now,
  ]);
  return rows[0] ?? null;
}

/** The state of the form that is shown last is the one that counts. */
export async function proveRequest(
  client: PoolClient,
  orgId: string,
  id: string,
  { stateHash, nonceHash }: { readonly stateHash: Buffer; readonly nonceHash: Buffer },
): Promise<void> {
  await client.query(
    'UPDATE app.integration_app_request SET state_hash = $3, nonce_hash = $4 WHERE org_id = $1 AND id = $2 AND taken_at IS NULL',
    [orgId, id, stateHash, nonceHash],
  );
}

export interface TakenAppRequest extends ShownRequest {
  readonly id: string;
  readonly user_id: string;
  readonly session_id: string;
  readonly kind: 'register' | 'install';
  readonly nonce_hash: Buffer;
}

/** The request of a state, once and for all: whoever else brings the state finds none. */
export async function takeAppRequest(pool: SqlPool, stateHash: Buffer, now: Date): Promise<TakenAppRequest | null> {
  const { rows } = await pool.query<TakenAppRequest>('SELECT * FROM app.take_integration_app_request($1, $2)', [
    stateHash,
    now,
  ]);
  return rows[0] ?? null;
}
