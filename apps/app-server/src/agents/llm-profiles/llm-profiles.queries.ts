import type { Columns, PoolClient } from '@slipway/db/sql';

export type LlmProfileRow = Columns<
  'app.llm_profile',
  | 'id'
  | 'name'
  | 'model'
  | 'base_url'
  | 'temperature'
  | 'max_output_tokens'
  | 'is_default'
  | 'created_by'
  | 'created_by_label'
  | 'created_at'
  | 'updated_at'
> & {
  readonly has_key: boolean;
};

const COLUMNS = `id, name, model, base_url, temperature, max_output_tokens, is_default, sealed_api_key IS NOT NULL AS has_key, created_by, created_by_label,
  created_at, updated_at`;

export async function listProfiles(client: PoolClient, orgId: string): Promise<LlmProfileRow[]> {
  return (
    await client.query<LlmProfileRow>(`SELECT ${COLUMNS} FROM app.llm_profile WHERE org_id = $1 ORDER BY name, id`, [
      orgId,
    ])
  ).rows;
}

export async function lockProfile(client: PoolClient, orgId: string, id: string): Promise<LlmProfileRow | null> {
  const { rows } = await client.query<LlmProfileRow>(
    `SELECT ${COLUMNS} FROM app.llm_profile WHERE org_id = $1 AND id = $2 FOR UPDATE`,
    [orgId, id],
  );
  return rows[0] ?? null;
}

export interface ProfileValues {
  readonly id: string;
  readonly name: string;
  readonly model: string;
  readonly baseUrl: string | null;
  readonly temperature: number | null;
  readonly maxOutputTokens: number | null;
  readonly default: boolean;
}
export interface SealedKey {
  readonly bytes: Uint8Array;
  readonly keyVersion: number;
}

/** No other of the organization is the default afterwards. */
export async function unsetDefault(client: PoolClient, orgId: string, except: string): Promise<void> {
  await client.query(
    'UPDATE app.llm_profile SET is_default = false, updated_at = now() WHERE org_id = $1 AND is_default AND id <> $2',
    [orgId, except],
  );
}

export interface NewProfile {
  readonly values: ProfileValues;
  readonly key: SealedKey | null;
  readonly by: { readonly id: string; readonly label: string };
}

/** @returns `null` when the name is taken. */
export async function insertProfile(
  client: PoolClient,
  orgId: string,
  { values, key, by }: NewProfile,
): Promise<LlmProfileRow | null> {
  const { rows } = await client.query<LlmProfileRow>(
    `INSERT INTO app.llm_profile (org_id, id, name, model, base_url, temperature, max_output_tokens, is_default, sealed_api_key, key_version, created_by, created_by_label)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (org_id, name) DO NOTHING RETURNING ${COLUMNS}`,
    [
      orgId,
      values.id,
      values.name,
      values.model,
      values.baseUrl,
      values.temperature,
      values.maxOutputTokens,
      values.default,
      key?.bytes ?? null,
      key?.keyVersion ?? null,
      by.id,
      by.label,
    ],
  );
  return rows[0] ?? null;
}

/** @param key `undefined`: the one that is there stays. @returns `null` when the name is another one's. */
export async function updateProfile(
  client: PoolClient,
  orgId: string,
  values: ProfileValues,
  key: SealedKey | null | undefined,
): Promise<LlmProfileRow | null> {
  const taken = await client.query('SELECT 1 FROM app.llm_profile WHERE org_id = $1 AND name = $2 AND id <> $3', [
    orgId,
    values.name,
    values.id,
  ]);
  if (taken.rowCount !== 0) return null;
  const { rows } = await client.query<LlmProfileRow>(
    `UPDATE app.llm_profile SET name = $3, model = $4, base_url = $5, temperature = $6, max_output_tokens = $7, is_default = $8,
       sealed_api_key = CASE WHEN $9 THEN sealed_api_key ELSE $10 END, key_version = CASE WHEN $9 THEN key_version ELSE $11 END, updated_at = now()
     WHERE org_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
    [
      orgId,
      values.id,
      values.name,
      values.model,
      values.baseUrl,
      values.temperature,
      values.maxOutputTokens,
      values.default,
      key === undefined,
      key?.bytes ?? null,
      key?.keyVersion ?? null,
    ],
  );
  return rows[0] ?? null;
}

export async function deleteProfile(client: PoolClient, orgId: string, id: string): Promise<void> {
  await client.query('DELETE FROM app.llm_profile WHERE org_id = $1 AND id = $2', [orgId, id]);
}
