import type { Columns, PoolClient, SqlPool } from '@slipway/db/sql';
import { userStore } from '@slipway/db/store';
import type { Account } from '@slipway/integrations';

export interface LinkRow {
  readonly id: string;
  readonly org_id: string;
  readonly org_name: string;
  readonly provider: string;
  readonly host: string;
  readonly external_user_id: string;
  readonly login: string;
  /** `null`: it waits for confirmation until `expires_at`. */
  readonly linked_at: Date | null;
  readonly expires_at: Date | null;
}

/** A user's links in all organizations, and what waits for confirmation in this session. */
export async function linksOf(pool: SqlPool, userId: string, sessionId: string, now: Date): Promise<LinkRow[]> {
  const { rows } = await pool.query<LinkRow>('SELECT * FROM app.linked_accounts_of($1, $2, $3)', [
    userId,
    sessionId,
    now,
  ]);
  return rows;
}

export interface LinkableRow {
  readonly connection_id: string;
  readonly org_id: string;
  readonly org_name: string;
  readonly name: string;
  readonly provider: string;
  readonly host: string;
}

export async function linkableConnections(pool: SqlPool, userId: string): Promise<LinkableRow[]> {
  const { rows } = await pool.query<LinkableRow>('SELECT * FROM app.linkable_connections($1)', [userId]);
  return rows;
}

export interface NewLinkRequest {
  readonly id: string;
  readonly userId: string;
  readonly sessionId: string;
  readonly connectionId: string;
  readonly provider: string;
  readonly host: string;
  readonly stateHash: Buffer;
  readonly nonceHash: Buffer;
  readonly expiresAt: Date;
  /** `null`: an account is linked. */
  readonly approval: { readonly pullRequestId: string; readonly headSha: string } | null;
}

/** Also forgets what is over in the organization, and of the user's own all but the newest `keep`. */
export async function insertRequest(
  client: PoolClient,
  orgId: string,
  made: NewLinkRequest,
  { keep, now }: { readonly keep: number; readonly now: Date },
): Promise<void> {
  await client.query('DELETE FROM app.link_request WHERE org_id = $1 AND expires_at <= $2', [orgId, now]);
  await client.query(
    `DELETE FROM app.link_request WHERE org_id = $1 AND user_id = $2
       AND id NOT IN (SELECT id FROM app.link_request WHERE org_id = $1 AND user_id = $2 ORDER BY expires_at DESC LIMIT $3)`,
    [orgId, made.userId, keep],
  );
  await client.query(
    `INSERT INTO app.link_request (org_id, id, user_id, session_id, connection_id, provider, host, state_hash, nonce_hash, expires_at, pull_request_id, head_sha)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      orgId,
      made.id,
      made.userId,
      made.sessionId,
      made.connectionId,
      made.provider,
      made.host,
      made.stateHash,
      made.nonceHash,
      made.expiresAt,
      made.approval?.pullRequestId ?? null,
      made.approval?.headSha ?? null,
    ],
  );
}

export interface TakenRequest {
  readonly id: string;
  readonly org_id: string;
  readonly user_id: string;
  readonly session_id: string;
  readonly connection_id: string;
  readonly nonce_hash: Buffer;
}

/** The request of a state, once and for all: whoever else brings the state finds none. */
export async function takeRequest(pool: SqlPool, stateHash: Buffer, now: Date): Promise<TakenRequest | null> {
  const { rows } = await pool.query<TakenRequest>('SELECT * FROM app.take_link_request($1, $2)', [stateHash, now]);
  return rows[0] ?? null;
}

/** What a request is for beside who the user is; `null`: to link an account. */
export async function approvalOf(
  client: PoolClient,
  orgId: string,
  id: string,
): Promise<{ readonly pullRequestId: string; readonly headSha: string } | null> {
  const { rows } = await client.query<{ pullRequestId: string; headSha: string }>(
    `SELECT pull_request_id AS "pullRequestId", head_sha AS "headSha" FROM app.link_request
     WHERE org_id = $1 AND id = $2 AND pull_request_id IS NOT NULL`,
    [orgId, id],
  );
  return rows[0] ?? null;
}

/** Accounts of a user at one host: linked in the organization, or signed in with. */
export async function externalUserIds(
  client: PoolClient,
  orgId: string,
  { provider, host, userId }: { readonly provider: string; readonly host: string; readonly userId: string },
): Promise<readonly string[]> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT external_user_id AS id FROM app.linked_account
     WHERE org_id = $1 AND provider = $2 AND host = $3 AND user_id = $4
     UNION SELECT external_user_id FROM app.external_identity WHERE provider = $2 AND host = $3 AND user_id = $4`,
    [orgId, provider, host, userId],
  );
  return rows.map(({ id }) => id);
}

/** What the provider has said; to be confirmed until `expiresAt`. */
export async function nameAccount(
  client: PoolClient,
  orgId: string,
  id: string,
  { account: { id: externalUserId, login }, expiresAt }: { readonly account: Account; readonly expiresAt: Date },
): Promise<void> {
  await client.query(
    'UPDATE app.link_request SET external_user_id = $3, login = $4, expires_at = $5 WHERE org_id = $1 AND id = $2',
    [orgId, id, externalUserId, login, expiresAt],
  );
}

export type ConfirmableRequest = Columns<
  'app.link_request',
  'provider' | 'host' | 'external_user_id' | 'login',
  { external_user_id: string; login: string }
>;

/** Takes what waits for confirmation in this very session. `null`: there is none any more. */
export async function takeConfirmable(
  client: PoolClient,
  orgId: string,
  id: string,
  {
    by: { userId, sessionId },
    now,
  }: { readonly by: { readonly userId: string; readonly sessionId: string }; readonly now: Date },
): Promise<ConfirmableRequest | null> {
  const { rows } = await client.query<ConfirmableRequest>(
    `DELETE FROM app.link_request WHERE org_id = $1 AND id = $2 AND user_id = $3 AND session_id = $4 AND external_user_id IS NOT NULL AND expires_at > $5
     RETURNING provider, host, external_user_id, login`,
    [orgId, id, userId, sessionId, now],
  );
  return rows[0] ?? null;
}

export interface Holder {
  readonly id: string;
  readonly userId: string;
  readonly externalUserId: string;
  readonly login: string;
  /** Is in the organization still. */
  readonly member: boolean;
}

/** Links of the organization that stand against another of this account and this user at one host, locked. */
export async function lockHolders(
  client: PoolClient,
  orgId: string,
  at: ConfirmableRequest,
  userId: string,
): Promise<Holder[]> {
  const { rows } = await client.query<Holder>(
    `SELECT l.id, l.user_id AS "userId", l.external_user_id AS "externalUserId", l.login,
       EXISTS (SELECT 1 FROM app.membership m WHERE m.org_id = $1 AND m.user_id = l.user_id) AS member
     FROM app.linked_account l WHERE l.org_id = $1 AND l.provider = $2 AND l.host = $3 AND (l.external_user_id = $4 OR l.user_id = $5) FOR UPDATE`,
    [orgId, at.provider, at.host, at.external_user_id, userId],
  );
  return rows;
}

/** Whose the account is by the operator's own sign-in; `null`: none. */
export async function signInHolder(
  client: PoolClient,
  { provider, host, external_user_id }: ConfirmableRequest,
): Promise<string | null> {
  const { rows } = await client.query<Columns<'app.external_identity', 'user_id'>>(
    'SELECT user_id FROM app.external_identity WHERE provider = $1 AND host = $2 AND external_user_id = $3',
    [provider, host, external_user_id],
  );
  return rows[0]?.user_id ?? null;
}

export interface NewLink {
  readonly id: string;
  readonly userId: string;
  readonly of: ConfirmableRequest;
  readonly now: Date;
}

/** @throws what Prisma throws when another user is linking the same account at the same moment (`P2002`). */
export async function insertLink(client: PoolClient, orgId: string, { id, userId, of, now }: NewLink): Promise<void> {
  const { provider, host, external_user_id: externalUserId, login } = of;
  const data = { orgId, id, provider, host, externalUserId, userId, login, linkedAt: now };
  await userStore(client, (store) => store.linkedAccount.createMany({ data }));
}

export async function deleteLink(client: PoolClient, orgId: string, id: string): Promise<boolean> {
  const { count } = await userStore(client, (store) => store.linkedAccount.deleteMany({ where: { orgId, id } }));
  return count === 1;
}

export async function deleteRequest(client: PoolClient, orgId: string, id: string): Promise<void> {
  await client.query('DELETE FROM app.link_request WHERE org_id = $1 AND id = $2', [orgId, id]);
}
