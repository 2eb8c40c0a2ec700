import { inOrg, type SqlPool } from '@slipway/db/sql';

export interface SealedProfile {
  readonly id: string;
  readonly name: string;
  readonly model: string;
  readonly baseUrl: string | null;
  readonly temperature: number | null;
  readonly maxOutputTokens: number | null;
  readonly sealed: Buffer | null;
  readonly keyVersion: number | null;
}

/** As it is now; `null` when the organization has none of that name. */
export async function profileNamed(pool: SqlPool, orgId: string, name: string): Promise<SealedProfile | null> {
  const { rows } = await inOrg(pool, orgId, (client) =>
    client.query<SealedProfile>(
      `SELECT id, name, model, base_url AS "baseUrl", temperature, max_output_tokens AS "maxOutputTokens", sealed_api_key AS sealed, key_version AS "keyVersion"
       FROM app.llm_profile WHERE org_id = $1 AND name = $2`,
      [orgId, name],
    ),
  );
  return rows[0] ?? null;
}
