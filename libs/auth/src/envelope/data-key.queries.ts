import type { PoolClient } from '@slipway/db/sql';

/** A data key as it is stored. */
export interface WrappedKey {
  readonly version: number;
  readonly wrapped: Buffer;
  /** `SecretBox.id` of the master key that it is under. */
  readonly masterId: string;
}

/** What a wrapped data key is bound to. */
export const wrapContext = (orgId: string, version: number): string => `data-key:${orgId}:${version}`;

const COLUMNS = 'version, wrapped, master_id AS "masterId"';

export async function newestDataKey(client: PoolClient, orgId: string): Promise<WrappedKey | null> {
  const { rows } = await client.query<WrappedKey>({
    name: 'newest-data-key',
    text: `SELECT ${COLUMNS} FROM app.org_data_key WHERE org_id = $1 ORDER BY version DESC LIMIT 1`,
    values: [orgId],
  });
  return rows[0] ?? null;
}

export async function findDataKey(client: PoolClient, orgId: string, version: number): Promise<WrappedKey | null> {
  const { rows } = await client.query<WrappedKey>({
    name: 'find-data-key',
    text: `SELECT ${COLUMNS} FROM app.org_data_key WHERE org_id = $1 AND version = $2`,
    values: [orgId, version],
  });
  return rows[0] ?? null;
}

/** The one that is there already stays. */
export async function addDataKey(
  client: PoolClient,
  orgId: string,
  { version, wrapped, masterId }: WrappedKey,
): Promise<void> {
  await client.query(
    'INSERT INTO app.org_data_key (org_id, version, wrapped, master_id) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
    [orgId, version, wrapped, masterId],
  );
}
