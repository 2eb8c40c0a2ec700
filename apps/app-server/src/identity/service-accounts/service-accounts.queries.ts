import type { SERVICE_ACCOUNT_ROLES, ServiceAccount } from '@slipway/contracts/identity';
import type { Columns, PoolClient } from '@slipway/db/sql';

type ServiceAccountRole = (typeof SERVICE_ACCOUNT_ROLES)[number];

export type ServiceAccountRow = Columns<
  'app.service_account',
  'id' | 'name' | 'role' | 'created_by' | 'created_by_label' | 'created_at',
  { role: ServiceAccountRole }
> & {
  readonly live_keys: number;
  readonly last_used_at: Date | null;
};

const SELECT = `SELECT a.id, a.name, a.role, a.created_by, a.created_by_label, a.created_at, coalesce(k.live, 0) AS live_keys, k.last_used_at
  FROM app.service_account a
  LEFT JOIN LATERAL (SELECT count(*) FILTER (WHERE k.revoked_at IS NULL AND k.expires_at > now())::int AS live, max(k.last_used_at) AS last_used_at
    FROM app.api_key k WHERE k.org_id = a.org_id AND k.owner_id = a.id) k ON true
  WHERE a.org_id = $1 AND a.deleted_at IS NULL`;

/** Newest first, one more than `limit` when there is a next page. */
export async function listServiceAccounts(
  client: PoolClient,
  orgId: string,
  before: string | null,
  limit: number,
): Promise<ServiceAccountRow[]> {
  const { rows } = await client.query<ServiceAccountRow>(
    `${SELECT} AND ($2::text IS NULL OR a.id < $2) ORDER BY a.id DESC LIMIT $3`,
    [orgId, before, limit + 1],
  );
  return rows;
}

export async function readServiceAccount(
  client: PoolClient,
  orgId: string,
  id: string,
): Promise<ServiceAccountRow | null> {
  const { rows } = await client.query<ServiceAccountRow>(`${SELECT} AND a.id = $2`, [orgId, id]);
  return rows[0] ?? null;
}

/** As `readServiceAccount`; locks the account until the transaction ends. */
export async function lockServiceAccount(
  client: PoolClient,
  orgId: string,
  id: string,
): Promise<ServiceAccountRow | null> {
  await client.query('SELECT 1 FROM app.service_account WHERE org_id = $1 AND id = $2 FOR UPDATE', [orgId, id]);
  return readServiceAccount(client, orgId, id);
}

/** Locks this organization's count until the transaction ends. */
export async function countServiceAccounts(client: PoolClient, orgId: string): Promise<number> {
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`service-accounts ${orgId}`]);
  const { rows } = await client.query<{ accounts: number }>(
    'SELECT count(*)::int AS accounts FROM app.service_account WHERE org_id = $1 AND deleted_at IS NULL',
    [orgId],
  );
  return rows[0]?.accounts ?? 0;
}

export async function insertServiceAccount(
  client: PoolClient,
  orgId: string,
  row: {
    readonly id: string;
    readonly name: string;
    readonly role: ServiceAccountRole;
    readonly createdBy: string;
    readonly createdByLabel: string;
  },
): Promise<void> {
  await client.query(
    'INSERT INTO app.service_account (id, org_id, name, role, created_by, created_by_label) VALUES ($1, $2, $3, $4, $5, $6)',
    [row.id, orgId, row.name, row.role, row.createdBy, row.createdByLabel],
  );
}

export async function updateServiceAccount(
  client: PoolClient,
  orgId: string,
  id: string,
  { name, role }: { readonly name: string; readonly role: ServiceAccountRole },
): Promise<void> {
  await client.query('UPDATE app.service_account SET name = $3, role = $4 WHERE org_id = $1 AND id = $2', [
    orgId,
    id,
    name,
    role,
  ]);
}

export async function deleteServiceAccount(client: PoolClient, orgId: string, id: string, now: Date): Promise<void> {
  await client.query('UPDATE app.service_account SET deleted_at = $3 WHERE org_id = $1 AND id = $2', [orgId, id, now]);
}

export function toServiceAccount(row: ServiceAccountRow): ServiceAccount {
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    createdAt: row.created_at.toISOString(),
    createdBy: { id: row.created_by, label: row.created_by_label },
    liveKeys: row.live_keys,
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
  };
}
