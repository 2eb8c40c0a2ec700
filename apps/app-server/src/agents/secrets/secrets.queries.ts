import type { SecretKind, SecretScope } from '@slipway/contracts/secrets';
import type { Columns, PoolClient } from '@slipway/db/sql';

/**
 * A secret without its value: no statement of this file but `insertSecret` and `updateSecret` touches that, and none
 * reads it.
 */
export type SecretRow = Columns<
  'app.secret',
  | 'id'
  | 'name'
  | 'kind'
  | 'scope'
  | 'scope_value'
  | 'host'
  | 'username'
  | 'description'
  | 'masked'
  | 'created_by'
  | 'created_by_label'
  | 'created_at'
  | 'updated_by'
  | 'updated_by_label'
  | 'updated_at'
  | 'last_used_at',
  { kind: SecretKind; scope: SecretScope }
>;

const COLUMNS = `id, name, kind, scope, scope_value, host, username, description, masked, created_by, created_by_label, created_at,
  updated_by, updated_by_label, updated_at, last_used_at`;

/** Which secrets a route covers: `null` takes every value of the scopes. */
export interface SecretFilter {
  readonly scopes: readonly SecretScope[];
  readonly scopeValue: string | null;
}

/** By name, `limit` after `after`. */
export async function listSecrets(
  client: PoolClient,
  orgId: string,
  { scopes, scopeValue }: SecretFilter,
  page: { readonly after: { readonly name: string; readonly id: string } | null; readonly limit: number },
): Promise<SecretRow[]> {
  const { rows } = await client.query<SecretRow>(
    `SELECT ${COLUMNS} FROM app.secret
     WHERE org_id = $1 AND scope = ANY ($2) AND ($3::text IS NULL OR scope_value = $3) AND ($4::text IS NULL OR (name, id) > ($4, $5))
     ORDER BY name, id LIMIT $6`,
    [orgId, scopes, scopeValue, page.after?.name ?? null, page.after?.id ?? null, page.limit],
  );
  return rows;
}

export async function countSecrets(
  client: PoolClient,
  orgId: string,
  { scopes, scopeValue }: SecretFilter,
): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM app.secret WHERE org_id = $1 AND scope = ANY ($2) AND ($3::text IS NULL OR scope_value = $3)',
    [orgId, scopes, scopeValue],
  );
  return rows[0]?.count ?? 0;
}

/** One that the route covers, locked until the transaction ends; `null` when it is not, or not there. */
export async function lockSecret(
  client: PoolClient,
  orgId: string,
  { scopes, scopeValue }: SecretFilter,
  id: string,
): Promise<SecretRow | null> {
  const { rows } = await client.query<SecretRow>(
    `SELECT ${COLUMNS} FROM app.secret WHERE org_id = $1 AND id = $2 AND scope = ANY ($3) AND ($4::text IS NULL OR scope_value = $4) FOR UPDATE`,
    [orgId, id, scopes, scopeValue],
  );
  return rows[0] ?? null;
}

export interface NewSecret {
  readonly id: string;
  readonly name: string;
  readonly kind: SecretKind;
  readonly scope: SecretScope;
  readonly scopeValue: string;
  readonly host: string | null;
  readonly username: string | null;
  readonly description: string;
  readonly sealed: Uint8Array;
  readonly keyVersion: number;
  readonly masked: boolean;
  readonly by: { readonly id: string; readonly label: string };
}

/** @returns `null` when one with this name goes to the same receivers. */
export async function insertSecret(client: PoolClient, orgId: string, made: NewSecret): Promise<SecretRow | null> {
  const { rows } = await client.query<SecretRow>(
    `INSERT INTO app.secret (org_id, id, name, kind, scope, scope_value, host, username, description, sealed, key_version, masked,
       created_by, created_by_label, updated_by, updated_by_label)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $13, $14)
     ON CONFLICT (org_id, scope, scope_value, name) DO NOTHING RETURNING ${COLUMNS}`,
    [
      orgId,
      made.id,
      made.name,
      made.kind,
      made.scope,
      made.scopeValue,
      made.host,
      made.username,
      made.description,
      made.sealed,
      made.keyVersion,
      made.masked,
      made.by.id,
      made.by.label,
    ],
  );
  return rows[0] ?? null;
}

export interface SecretChange {
  readonly description: string;
  readonly username: string | null;
  /** `null`: the value stays. */
  readonly value: { readonly sealed: Uint8Array; readonly keyVersion: number; readonly masked: boolean } | null;
  readonly by: { readonly id: string; readonly label: string };
}

export async function updateSecret(
  client: PoolClient,
  orgId: string,
  id: string,
  { description, username, value, by }: SecretChange,
): Promise<SecretRow> {
  const { rows } = await client.query<SecretRow>(
    `UPDATE app.secret SET description = $3, username = $4, sealed = coalesce($5, sealed), key_version = coalesce($6, key_version), masked = coalesce($7, masked),
       updated_by = $8, updated_by_label = $9, updated_at = now()
     WHERE org_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
    [
      orgId,
      id,
      description,
      username,
      value?.sealed ?? null,
      value?.keyVersion ?? null,
      value?.masked ?? null,
      by.id,
      by.label,
    ],
  );
  return rows[0] as SecretRow;
}

export async function deleteSecret(client: PoolClient, orgId: string, id: string): Promise<void> {
  await client.query('DELETE FROM app.secret WHERE org_id = $1 AND id = $2', [orgId, id]);
}

export async function hasConversation(client: PoolClient, orgId: string, id: string): Promise<boolean> {
  return (
    (await client.query('SELECT 1 FROM app.conversation WHERE org_id = $1 AND id = $2', [orgId, id])).rowCount === 1
  );
}
