import type { PoolClient } from '@slipway/db/sql';

export interface RepositoryGrant {
  readonly connectionId: string;
  readonly host: string;
  readonly settings: { readonly baseUrl?: string | null };
  readonly fullName: string;
}

/** Lets a conversation read a repository through a connection that has a credential; nothing where it has none. Repeatable. */
export async function grantRepository(client: PoolClient, orgId: string, conversationId: string, connectionId: string, fullName: string): Promise<void> {
  await client.query(
    `INSERT INTO app.repository_grant (org_id, conversation_id, connection_id, full_name)
     SELECT $1, $2, $3, $4 WHERE EXISTS (SELECT 1 FROM app.integration_secret WHERE org_id = $1 AND connection_id = $3 AND kind = 'token') ON CONFLICT DO NOTHING`,
    [orgId, conversationId, connectionId, fullName],
  );
}

export async function repositoryGrants(client: PoolClient, orgId: string, conversationId: string): Promise<RepositoryGrant[]> {
  const { rows } = await client.query<RepositoryGrant>({
    name: 'repository-grants',
    text: `SELECT g.connection_id AS "connectionId", c.host, c.settings, g.full_name AS "fullName"
           FROM app.repository_grant g JOIN app.integration_connection c ON c.id = g.connection_id AND c.org_id = g.org_id
           WHERE g.org_id = $1 AND g.conversation_id = $2 ORDER BY g.created_at, g.full_name`,
    values: [orgId, conversationId],
  });
  return rows;
}
