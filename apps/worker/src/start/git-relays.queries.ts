import type { Columns, PoolClient } from '@slipway/db/sql';

/** A grant, and where its connection is. */
export type GrantedPlace = Columns<
  'app.integration_connection',
  'host' | 'settings',
  { settings: { readonly baseUrl?: string | null } }
> & {
  readonly connectionId: string;
  readonly fullName: string;
};

export async function repositoryGrants(
  client: PoolClient,
  orgId: string,
  conversationId: string,
): Promise<GrantedPlace[]> {
  const { rows } = await client.query<GrantedPlace>({
    name: 'repository-grants',
    text: `SELECT g.connection_id AS "connectionId", c.host, c.settings, g.full_name AS "fullName"
           FROM app.repository_grant g JOIN app.integration_connection c ON c.id = g.connection_id AND c.org_id = g.org_id
           WHERE g.org_id = $1 AND g.conversation_id = $2 ORDER BY g.created_at, g.full_name`,
    values: [orgId, conversationId],
  });
  return rows;
}
