import { type API_KEY_OWNERS, type API_KEY_STATES, type ApiKey } from '@slipway/contracts/identity';
import {
  PERMISSIONS,
  type Permission,
  permissionsOfKey,
  ROLE_PERMISSIONS,
  type Role,
} from '@slipway/contracts/organizations';
import type { Columns, PoolClient } from '@slipway/db/sql';

export type ApiKeyState = (typeof API_KEY_STATES)[number];

export interface NewApiKeyRow {
  readonly id: string;
  readonly name: string;
  readonly ownerKind: (typeof API_KEY_OWNERS)[number];
  readonly ownerId: string;
  readonly scopes: readonly Permission[];
  readonly hash: Buffer;
  readonly prefix: string;
  readonly last4: string;
  readonly notBefore: Date | null;
  readonly expiresAt: Date;
  readonly createdBy: string;
  readonly createdByLabel: string;
  readonly createdAt: Date;
  /** The key that makes this one; `null` for a signed-in user. The database bounds this key's end by that one's. */
  readonly madeByKey: string | null;
}

export type ApiKeyRow = Columns<
  'app.api_key',
  | 'id'
  | 'name'
  | 'owner_kind'
  | 'owner_id'
  | 'scopes'
  | 'prefix'
  | 'last4'
  | 'not_before'
  | 'expires_at'
  | 'created_by'
  | 'created_by_label'
  | 'created_at'
  | 'last_used_at'
  | 'last_used_address'
  | 'last_used_route'
  | 'revoked_at'
  | 'replaced_by'
  | 'made_by_key',
  { owner_kind: (typeof API_KEY_OWNERS)[number] }
> & {
  readonly owner_label: string | null;
  /** `null`: the owner is no member any more, deactivated or deleted. */
  readonly owner_role: Role | null;
  readonly state: ApiKeyState;
  readonly descendants: number;
  /** Whether the maker is still a member, or an account that is not deleted. */
  readonly maker_active: boolean;
};

/** `$2`: the time at which the state is computed. */
const STATE = `CASE WHEN k.revoked_at IS NOT NULL THEN 'revoked' WHEN k.expires_at <= $2 THEN 'expired' WHEN k.not_before > $2 THEN 'pending' ELSE 'active' END`;
const SELECT = `SELECT k.id, k.name, k.owner_kind, k.owner_id, coalesce(u.name, a.name) AS owner_label,
    CASE WHEN u.id IS NOT NULL AND u.deactivated_at IS NULL THEN m.role WHEN a.deleted_at IS NULL THEN a.role END AS owner_role,
    k.scopes, k.prefix, k.last4, ${STATE} AS state, k.not_before, k.expires_at, k.created_by, k.created_by_label, k.created_at,
    k.last_used_at, k.last_used_address, k.last_used_route, k.revoked_at, k.replaced_by, k.made_by_key,
    (SELECT count(*)::int FROM app.api_key c
     WHERE c.org_id = k.org_id AND c.id <> k.id AND c.revoked_at IS NULL AND c.expires_at > $2
       AND c.id IN (SELECT d.id FROM app.api_key_descendants(k.org_id, ARRAY[k.id]) d)) AS descendants,
    EXISTS (SELECT 1 FROM app.membership n JOIN app.user_account v ON v.id = n.user_id
            WHERE n.org_id = k.org_id AND n.user_id = k.created_by AND v.deactivated_at IS NULL)
      OR EXISTS (SELECT 1 FROM app.service_account s WHERE s.org_id = k.org_id AND s.id = k.created_by AND s.deleted_at IS NULL) AS maker_active
  FROM app.api_key k
  LEFT JOIN app.user_account u ON k.owner_kind = 'user' AND u.id = k.owner_id
  LEFT JOIN app.membership m ON m.org_id = k.org_id AND m.user_id = u.id
  LEFT JOIN app.service_account a ON k.owner_kind = 'service-account' AND a.org_id = k.org_id AND a.id = k.owner_id
  WHERE k.org_id = $1`;

/** Newest first, one more than `limit` when there is a next page. `ownerId` null: those of all owners. */
export async function listApiKeys(
  client: PoolClient,
  orgId: string,
  now: Date,
  asked: {
    readonly ownerId: string | null;
    readonly state: ApiKeyState | null;
    readonly before: string | null;
    readonly limit: number;
  },
): Promise<ApiKeyRow[]> {
  const { rows } = await client.query<ApiKeyRow>(
    `${SELECT} AND ($3::text IS NULL OR k.owner_id = $3) AND ($4::text IS NULL OR ${STATE} = $4) AND ($5::text IS NULL OR k.id < $5) ORDER BY k.id DESC LIMIT $6`,
    [orgId, now, asked.ownerId, asked.state, asked.before, asked.limit + 1],
  );
  return rows;
}

export async function readApiKey(client: PoolClient, orgId: string, now: Date, id: string): Promise<ApiKeyRow | null> {
  const { rows } = await client.query<ApiKeyRow>(`${SELECT} AND k.id = $3`, [orgId, now, id]);
  return rows[0] ?? null;
}

/** As `readApiKey`; locks the key until the transaction ends. */
export async function lockApiKey(client: PoolClient, orgId: string, now: Date, id: string): Promise<ApiKeyRow | null> {
  await client.query('SELECT 1 FROM app.api_key WHERE org_id = $1 AND id = $2 FOR UPDATE', [orgId, id]);
  return readApiKey(client, orgId, now, id);
}

/**
 * Keys of an owner that can be used now or later, but for those that a rotation has replaced. Locks the count of this
 * owner's keys until the transaction ends.
 */
export async function countLiveApiKeys(client: PoolClient, orgId: string, ownerId: string, now: Date): Promise<number> {
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`api-keys ${orgId} ${ownerId}`]);
  const { rows } = await client.query<{ live: number }>(
    'SELECT count(*)::int AS live FROM app.api_key WHERE org_id = $1 AND owner_id = $2 AND revoked_at IS NULL AND expires_at > $3 AND replaced_by IS NULL',
    [orgId, ownerId, now],
  );
  return rows[0]?.live ?? 0;
}

export async function insertApiKey(client: PoolClient, orgId: string, row: NewApiKeyRow): Promise<void> {
  await client.query(
    `INSERT INTO app.api_key (id, org_id, name, owner_kind, owner_id, scopes, hash, prefix, last4, not_before, expires_at, created_by, created_by_label, created_at, made_by_key)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
    [
      row.id,
      orgId,
      row.name,
      row.ownerKind,
      row.ownerId,
      row.scopes,
      row.hash,
      row.prefix,
      row.last4,
      row.notBefore,
      row.expiresAt,
      row.createdBy,
      row.createdByLabel,
      row.createdAt,
      row.madeByKey,
    ],
  );
}

export async function renameApiKey(client: PoolClient, orgId: string, id: string, name: string): Promise<void> {
  await client.query('UPDATE app.api_key SET name = $3 WHERE org_id = $1 AND id = $2', [orgId, id, name]);
}

export async function revokeApiKey(client: PoolClient, orgId: string, id: string, now: Date): Promise<void> {
  await client.query('UPDATE app.api_key SET revoked_at = $3 WHERE org_id = $1 AND id = $2 AND revoked_at IS NULL', [
    orgId,
    id,
    now,
  ]);
}

/** Ends every key of an owner. @returns the ids of those that were live. */
export async function revokeApiKeysOf(
  client: PoolClient,
  orgId: string,
  ownerId: string,
  now: Date,
): Promise<string[]> {
  const { rows } = await client.query<Columns<'app.api_key', 'id'>>(
    'UPDATE app.api_key SET revoked_at = $3 WHERE org_id = $1 AND owner_id = $2 AND revoked_at IS NULL AND expires_at > $3 RETURNING id',
    [orgId, ownerId, now],
  );
  return rows.map(({ id }) => id);
}

/**
 * Live keys that were made with one of these or a predecessor of it, directly or through keys that have ended since. A
 * revocation of their ancestor revokes them (trigger `revoke_child_keys`).
 */
export async function liveDescendants(
  client: PoolClient,
  orgId: string,
  ids: readonly string[],
  now: Date,
): Promise<string[]> {
  const { rows } = await client.query<Columns<'app.api_key', 'id'>>(
    `SELECT k.id FROM app.api_key k
     WHERE k.org_id = $1 AND k.revoked_at IS NULL AND k.expires_at > $3 AND k.id <> ALL ($2) AND k.id IN (SELECT d.id FROM app.api_key_descendants($1, $2) d)`,
    [orgId, ids, now],
  );
  return rows.map(({ id }) => id);
}

/**
 * Ends every live descendant of a key, also one that a rotation under way is making: the statement waits for it, and
 * the next one sees what it made. @returns their ids.
 */
export async function revokeDescendants(client: PoolClient, orgId: string, id: string, now: Date): Promise<string[]> {
  const ended: string[] = [];
  for (;;) {
    const live = await liveDescendants(client, orgId, [id], now);
    if (live.length === 0) return ended;
    await client.query(
      'UPDATE app.api_key SET revoked_at = $3 WHERE org_id = $1 AND id = ANY ($2) AND revoked_at IS NULL',
      [orgId, live, now],
    );
    ended.push(...live);
  }
}

export interface ReplacedKey {
  readonly by: string;
  readonly now: Date;
  readonly until: Date | null;
}

/**
 * The key goes on until `until` at the latest; `null`: it ends at once. What was made with it ends with a revocation of
 * either.
 */
export async function replaceApiKey(
  client: PoolClient,
  orgId: string,
  id: string,
  { by, now, until }: ReplacedKey,
): Promise<void> {
  await client.query(
    `UPDATE app.api_key SET replaced_by = $3, revoked_at = CASE WHEN $5::timestamptz IS NULL THEN $4::timestamptz END, expires_at = least(expires_at, coalesce($5::timestamptz, expires_at))
     WHERE org_id = $1 AND id = $2`,
    [orgId, id, by, now, until],
  );
}

export function toApiKey(row: ApiKeyRow): ApiKey {
  const scopes = PERMISSIONS.filter((permission) => row.scopes.includes(permission));
  const live = row.state === 'active' || row.state === 'pending';
  const owned: ReadonlySet<Permission> = new Set(
    row.owner_role === null || !live ? [] : ROLE_PERMISSIONS[row.owner_role],
  );
  return {
    id: row.id,
    name: row.name,
    state: row.state,
    owner: { kind: row.owner_kind, id: row.owner_id, label: row.owner_label ?? row.owner_id },
    prefix: row.prefix,
    last4: row.last4,
    scopes,
    permissions: [...permissionsOfKey(scopes, owned)],
    notBefore: row.not_before?.toISOString() ?? null,
    expiresAt: row.expires_at.toISOString(),
    createdAt: row.created_at.toISOString(),
    createdBy: { id: row.created_by, label: row.created_by_label, active: row.maker_active },
    madeByKey: row.made_by_key,
    descendants: row.descendants,
    lastUsed:
      row.last_used_at === null
        ? null
        : { at: row.last_used_at.toISOString(), address: row.last_used_address, route: row.last_used_route ?? '' },
    revokedAt: row.revoked_at?.toISOString() ?? null,
    replacedBy: row.replaced_by,
  };
}
