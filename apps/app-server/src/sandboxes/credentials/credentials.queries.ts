import type { CredentialScope, CredentialUse, RestingReason } from '@slipway/contracts/credentials';
import type { SecretKind, SecretScope } from '@slipway/contracts/secrets';
import type { Columns, PoolClient } from '@slipway/db/sql';

/** A credential without its value. */
export type CredentialRow = Columns<
  'app.credential',
  | 'id'
  | 'name'
  | 'description'
  | 'scope'
  | 'scope_value'
  | 'use'
  | 'state'
  | 'resting_reason'
  | 'expires_at'
  | 'created_by'
  | 'created_by_label'
  | 'created_at'
  | 'updated_by'
  | 'updated_by_label'
  | 'updated_at'
  | 'last_used_at',
  { scope: CredentialScope; use: CredentialUse; state: 'active' | 'resting'; resting_reason: RestingReason | null }
> & { readonly expired: boolean };
const COLUMNS = `id, name, description, scope, scope_value, use, state, resting_reason, expires_at,
  coalesce(expires_at <= now(), false) AS expired, created_by, created_by_label, created_at,
  updated_by, updated_by_label, updated_at, last_used_at`;

export interface By {
  readonly id: string;
  readonly label: string;
}

export interface SealedValue {
  readonly sealed: Uint8Array;
  readonly keyVersion: number;
}

/** By name, `limit` after `after`. */
export async function listCredentials(
  client: PoolClient,
  orgId: string,
  { after, limit }: { readonly after: { readonly name: string; readonly id: string } | null; readonly limit: number },
): Promise<CredentialRow[]> {
  const { rows } = await client.query<CredentialRow>(
    `SELECT ${COLUMNS} FROM app.credential WHERE org_id = $1 AND ($2::text IS NULL OR (name, id) > ($2, $3)) ORDER BY name, id LIMIT $4`,
    [orgId, after?.name ?? null, after?.id ?? null, limit],
  );
  return rows;
}

export async function countCredentials(client: PoolClient, orgId: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM app.credential WHERE org_id = $1',
    [orgId],
  );
  return rows[0]?.count ?? 0;
}

export async function findCredential(client: PoolClient, orgId: string, id: string): Promise<CredentialRow | null> {
  const { rows } = await client.query<CredentialRow>(
    `SELECT ${COLUMNS} FROM app.credential WHERE org_id = $1 AND id = $2`,
    [orgId, id],
  );
  return rows[0] ?? null;
}

/** The same, locked until the transaction ends. */
export async function lockCredential(client: PoolClient, orgId: string, id: string): Promise<CredentialRow | null> {
  const { rows } = await client.query<CredentialRow>(
    `SELECT ${COLUMNS} FROM app.credential WHERE org_id = $1 AND id = $2 FOR UPDATE`,
    [orgId, id],
  );
  return rows[0] ?? null;
}

export interface NewCredential extends SealedValue {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly scope: CredentialScope;
  readonly scopeValue: string;
  readonly use: CredentialUse;
  readonly referenceKey: Uint8Array;
  readonly expiresAt: string | null;
  readonly by: By;
}

/** @returns `null` when one with this name is for the same conversations. */
export async function insertCredential(
  client: PoolClient,
  orgId: string,
  made: NewCredential,
): Promise<CredentialRow | null> {
  const { rows } = await client.query<CredentialRow>(
    `INSERT INTO app.credential (org_id, id, name, description, scope, scope_value, use, hosts, sealed, key_version, reference_key,
       created_by, created_by_label, updated_by, updated_by_label, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $12, $13, $14)
     ON CONFLICT (org_id, scope, scope_value, name) DO NOTHING RETURNING ${COLUMNS}`,
    [
      orgId,
      made.id,
      made.name,
      made.description,
      made.scope,
      made.scopeValue,
      JSON.stringify(made.use),
      hostsOf(made.use),
      made.sealed,
      made.keyVersion,
      made.referenceKey,
      made.by.id,
      made.by.label,
      made.expiresAt,
    ],
  );
  return rows[0] ?? null;
}

export interface CredentialChange {
  readonly description: string;
  readonly use: CredentialUse;
  readonly state: CredentialRow['state'];
  readonly expiresAt: string | null;
  /** `null`: the value stays. */
  readonly value: SealedValue | null;
  readonly by: By;
}

export async function updateCredential(
  client: PoolClient,
  orgId: string,
  id: string,
  { description, use, state, expiresAt, value, by }: CredentialChange,
): Promise<CredentialRow> {
  const { rows } = await client.query<CredentialRow>(
    `UPDATE app.credential SET description = $3, form = NULL, use = $4, hosts = $5, state = $6,
       resting_reason = CASE WHEN $6 = 'resting' THEN resting_reason END,
       renewing_by = CASE WHEN $7::bytea IS NULL THEN renewing_by END, renewing_until = CASE WHEN $7::bytea IS NULL THEN renewing_until END,
       renew_unsure = $7::bytea IS NULL AND renew_unsure, sealed = coalesce($7, sealed), key_version = coalesce($8, key_version), updated_by = $9, updated_by_label = $10, updated_at = now(), expires_at = $11
     WHERE org_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
    [
      orgId,
      id,
      description,
      JSON.stringify(use),
      hostsOf(use),
      state,
      value?.sealed ?? null,
      value?.keyVersion ?? null,
      by.id,
      by.label,
      expiresAt,
    ],
  );
  return rows[0] as CredentialRow;
}

export async function deleteCredential(client: PoolClient, orgId: string, id: string): Promise<CredentialRow | null> {
  const { rows } = await client.query<CredentialRow>(
    `DELETE FROM app.credential WHERE org_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
    [orgId, id],
  );
  return rows[0] ?? null;
}

/** As `hosts` keeps them. */
export const hostKey = (host: string, port: number): string => `${host}:${port}`;
/** Port 80 too: egress-proxy refuses it in words at a place, where else it would pass in clear and unjudged. */
const CLEAR_PORT = 80;
const hostsOf = ({ places }: CredentialUse): string[] => [
  ...new Set(places.flatMap(({ host, port }) => [hostKey(host, port), hostKey(host, CLEAR_PORT)])),
];

/** A secret whose value moves into a credential. Not a user's own: that is theirs alone. */
export interface MovedSecret {
  readonly id: string;
  readonly name: string;
  readonly kind: SecretKind;
  readonly scope: SecretScope;
  readonly scopeValue: string;
  readonly sealed: Buffer;
  readonly keyVersion: number;
}

export async function findMovedSecret(client: PoolClient, orgId: string, id: string): Promise<MovedSecret | null> {
  const { rows } = await client.query<MovedSecret>(
    `SELECT id, name, kind, scope, scope_value AS "scopeValue", sealed, key_version AS "keyVersion"
     FROM app.secret WHERE org_id = $1 AND id = $2 AND scope <> 'person'`,
    [orgId, id],
  );
  return rows[0] ?? null;
}

/** @returns false when it is not there any more, or has another value by now. */
export async function deleteMovedSecret(
  client: PoolClient,
  orgId: string,
  { id, sealed }: MovedSecret,
): Promise<boolean> {
  const { rowCount } = await client.query('DELETE FROM app.secret WHERE org_id = $1 AND id = $2 AND sealed = $3', [
    orgId,
    id,
    sealed,
  ]);
  return rowCount === 1;
}

/** Secrets that sandboxes are given, those of users counted alone. */
export async function secretsGiven(
  client: PoolClient,
  orgId: string,
  limit: number,
): Promise<{
  readonly named: readonly Pick<MovedSecret, 'id' | 'name' | 'kind' | 'scope'>[];
  readonly count: number;
  readonly personal: number;
}> {
  const { rows } = await client.query<Pick<MovedSecret, 'id' | 'name' | 'kind' | 'scope'>>(
    "SELECT id, name, kind, scope FROM app.secret WHERE org_id = $1 AND scope <> 'person' ORDER BY name, id LIMIT $2",
    [orgId, limit],
  );
  const { rows: counts } = await client.query<{ count: number; personal: number }>(
    "SELECT count(*)::int AS count, count(*) FILTER (WHERE scope = 'person')::int AS personal FROM app.secret WHERE org_id = $1",
    [orgId],
  );
  return { named: rows, count: counts[0]?.count ?? 0, personal: counts[0]?.personal ?? 0 };
}
