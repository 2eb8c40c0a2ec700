import type { Columns, PoolClient } from '@slipway/db/sql';

export async function insertApp(
  client: PoolClient,
  orgId: string,
  app: {
    readonly connectionId: string;
    readonly appId: string;
    readonly slug: string;
    readonly url: string | null;
    readonly state: 'registered' | 'requested';
  },
): Promise<void> {
  await client.query(
    'INSERT INTO app.integration_app (connection_id, org_id, app_id, slug, url, state) VALUES ($1, $2, $3, $4, $5, $6)',
    [app.connectionId, orgId, app.appId, app.slug, app.url, app.state],
  );
}

/** It waits for an owner of the account. No-op for one that is installed. */
export async function noteRequested(client: PoolClient, orgId: string, connectionId: string): Promise<void> {
  await client.query(
    `UPDATE app.integration_app SET state = 'requested' WHERE org_id = $1 AND connection_id = $2 AND state IN ('registered', 'removed')`,
    [orgId, connectionId],
  );
}

/**
 * Takes the account for the organization, in place of what the connection had. Waits for another that is about to take
 * it.
 * @returns false when another connection has it, of whichever organization.
 */
export async function claimAccount(
  client: PoolClient,
  orgId: string,
  claim: {
    readonly provider: string;
    readonly host: string;
    readonly accountId: string;
    readonly connectionId: string;
  },
): Promise<boolean> {
  const { provider, host, accountId, connectionId } = claim;
  await client.query(
    'DELETE FROM app.integration_account_claim WHERE org_id = $1 AND connection_id = $2 AND account_id <> $3',
    [orgId, connectionId, accountId],
  );
  await client.query(
    `INSERT INTO app.integration_account_claim (provider, host, account_id, org_id, connection_id) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
    [provider, host, accountId, orgId, connectionId],
  );
  // Only a claim of this organization is seen here.
  const { rowCount } = await client.query(
    'SELECT 1 FROM app.integration_account_claim WHERE org_id = $1 AND provider = $2 AND host = $3 AND account_id = $4 AND connection_id = $5',
    [orgId, provider, host, accountId, connectionId],
  );
  return rowCount === 1;
}

/** Deliveries of the platform's app find the connection by it; those of an own app come to its address. */
export async function setAccount(
  client: PoolClient,
  orgId: string,
  connectionId: string,
  installationId: string,
): Promise<void> {
  await client.query(
    'UPDATE app.integration_connection SET account = $3, updated_at = now() WHERE org_id = $1 AND id = $2',
    [orgId, connectionId, installationId],
  );
}

/** Connections of the platform's app without a verified installation: the next attempt takes their place. */
export async function findUnbound(client: PoolClient, orgId: string, provider: string): Promise<string | null> {
  const { rows } = await client.query<Columns<'app.integration_connection', 'id'>>(
    `SELECT c.id FROM app.integration_connection c JOIN app.integration_app a ON a.connection_id = c.id
     WHERE c.org_id = $1 AND c.provider = $2 AND c.platform AND c.account IS NULL AND a.state IN ('requested', 'removed') ORDER BY c.created_at LIMIT 1`,
    [orgId, provider],
  );
  return rows[0]?.id ?? null;
}
