import type { PoolClient } from 'pg';
import { CREDENTIAL_KINDS } from './credential-kinds.js';

/** A repository that a user may read at a provider, as the provider has just confirmed. */
export interface RepositoryGrant {
  readonly connectionId: string;
  /** `owner/name`, as the host writes it. */
  readonly fullName: string;
}

/**
 * Lets a conversation read a repository through a connection that has a credential; nothing where it has none.
 * Repeatable.
 */
export async function grantRepository(
  client: Pick<PoolClient, 'query'>,
  orgId: string,
  conversationId: string,
  { connectionId, fullName }: RepositoryGrant,
): Promise<void> {
  await client.query(
    `INSERT INTO app.repository_grant (org_id, conversation_id, connection_id, full_name)
     SELECT $1, $2, $3, $4 WHERE EXISTS (SELECT 1 FROM app.integration_secret WHERE org_id = $1 AND connection_id = $3 AND kind = ANY ($5)) ON CONFLICT DO NOTHING`,
    [orgId, conversationId, connectionId, fullName, CREDENTIAL_KINDS],
  );
}
