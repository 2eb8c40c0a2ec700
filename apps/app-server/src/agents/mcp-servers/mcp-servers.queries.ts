import type { Columns, PoolClient } from '@slipway/db/sql';
import type { StoredMcpConfig } from '@slipway/domain';

export type McpServerRow = Columns<
  'app.mcp_server',
  'id' | 'name' | 'transport' | 'enabled' | 'config' | 'created_by' | 'created_by_label' | 'created_at' | 'updated_at',
  { transport: 'stdio' | 'http' | 'sse'; config: StoredMcpConfig }
>;

const COLUMNS = 'id, name, transport, enabled, config, created_by, created_by_label, created_at, updated_at';

export async function listServers(client: PoolClient, orgId: string): Promise<McpServerRow[]> {
  return (
    await client.query<McpServerRow>(`SELECT ${COLUMNS} FROM app.mcp_server WHERE org_id = $1 ORDER BY name, id`, [
      orgId,
    ])
  ).rows;
}

export async function lockServer(client: PoolClient, orgId: string, id: string): Promise<McpServerRow | null> {
  const { rows } = await client.query<McpServerRow>(
    `SELECT ${COLUMNS} FROM app.mcp_server WHERE org_id = $1 AND id = $2 FOR UPDATE`,
    [orgId, id],
  );
  return rows[0] ?? null;
}

export async function findServer(client: PoolClient, orgId: string, id: string): Promise<McpServerRow | null> {
  const { rows } = await client.query<McpServerRow>(
    `SELECT ${COLUMNS} FROM app.mcp_server WHERE org_id = $1 AND id = $2`,
    [orgId, id],
  );
  return rows[0] ?? null;
}

/** @returns `null` when the name is taken. */
export async function insertServer(
  client: PoolClient,
  orgId: string,
  server: Pick<McpServerRow, 'id' | 'name' | 'transport' | 'enabled' | 'config'>,
  by: { readonly id: string; readonly label: string },
): Promise<McpServerRow | null> {
  const { rows } = await client.query<McpServerRow>(
    `INSERT INTO app.mcp_server (org_id, id, name, transport, enabled, config, created_by, created_by_label) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     ON CONFLICT (org_id, name) DO NOTHING RETURNING ${COLUMNS}`,
    [orgId, server.id, server.name, server.transport, server.enabled, JSON.stringify(server.config), by.id, by.label],
  );
  return rows[0] ?? null;
}

/** @returns `null` when the name is another one's. */
export async function updateServer(
  client: PoolClient,
  orgId: string,
  server: Pick<McpServerRow, 'id' | 'name' | 'enabled' | 'config'>,
): Promise<McpServerRow | null> {
  const taken = await client.query('SELECT 1 FROM app.mcp_server WHERE org_id = $1 AND name = $2 AND id <> $3', [
    orgId,
    server.name,
    server.id,
  ]);
  if (taken.rowCount !== 0) return null;
  const { rows } = await client.query<McpServerRow>(
    `UPDATE app.mcp_server SET name = $3, enabled = $4, config = $5, updated_at = now() WHERE org_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
    [orgId, server.id, server.name, server.enabled, JSON.stringify(server.config)],
  );
  return rows[0] ?? null;
}

export async function deleteServer(client: PoolClient, orgId: string, id: string): Promise<void> {
  await client.query('DELETE FROM app.mcp_server WHERE org_id = $1 AND id = $2', [orgId, id]);
}

/** Those of the names that a secret of the organization has, whoever gets it. */
export async function knownSecretNames(
  client: PoolClient,
  orgId: string,
  names: readonly string[],
): Promise<Set<string>> {
  const { rows } = await client.query<Columns<'app.secret', 'name'>>(
    "SELECT DISTINCT name FROM app.secret WHERE org_id = $1 AND kind = 'variable' AND name = ANY ($2)",
    [orgId, names],
  );
  return new Set(rows.map(({ name }) => name));
}

export type SealedVariable = Columns<'app.secret', 'id' | 'name' | 'sealed'> & {
  readonly keyVersion: number;
};

/** Those of the names that every conversation of the organization is given. */
export async function sealedVariables(
  client: PoolClient,
  orgId: string,
  names: readonly string[],
): Promise<SealedVariable[]> {
  const { rows } = await client.query<SealedVariable>(
    `SELECT id, name, sealed, key_version AS "keyVersion" FROM app.secret WHERE org_id = $1 AND scope = 'org' AND kind = 'variable' AND name = ANY ($2)`,
    [orgId, names],
  );
  return rows;
}

export async function markUsed(client: PoolClient, orgId: string, secrets: readonly SealedVariable[]): Promise<void> {
  await client.query('UPDATE app.secret SET last_used_at = now() WHERE org_id = $1 AND id = ANY ($2)', [
    orgId,
    secrets.map(({ id }) => id),
  ]);
}
