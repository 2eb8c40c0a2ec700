import type { PoolClient } from '@slipway/db/sql';
import { credentialSecretsOf, type StoredCredential } from '@slipway/integrations/credentials';
import { type ConnectionRow, listConnections } from '../connections.queries.js';

/** Who the caller is at one host. */
export interface Identity {
  readonly externalUserId: string;
  readonly login: string;
}

/** A connection with what asking its host for a user takes. */
export interface Reach {
  readonly row: ConnectionRow;
  readonly credential: StoredCredential | null;
  readonly identity: Identity | null;
}

/**
 * Connections of the organization that are not disabled, by name. @param userId a service account's id finds no
 * identity.
 */
export async function connectionsFor(
  client: PoolClient,
  orgId: string,
  userId: string,
  limit: number,
): Promise<Reach[]> {
  const rows = (await listConnections(client, orgId, limit)).filter(({ state }) => state !== 'disabled');
  const secrets = await credentialSecretsOf(client, orgId);
  // The organization's own before the one verified by the operator's sign-in, as for the actors of deliveries.
  const { rows: identities } = await client.query<Identity & { provider: string; host: string }>(
    `SELECT provider, host, external_user_id AS "externalUserId", login FROM app.linked_account WHERE org_id = $1 AND user_id = $2
     UNION ALL
     SELECT i.provider, i.host, i.external_user_id, i.login FROM app.external_identity i WHERE i.user_id = $2 AND NOT EXISTS (
       SELECT 1 FROM app.linked_account l WHERE l.org_id = $1 AND l.provider = i.provider AND l.host = i.host AND (l.user_id = $2 OR l.external_user_id = i.external_user_id))`,
    [orgId, userId],
  );
  return rows.map((row) => {
    const identity = identities.find(({ provider, host }) => provider === row.provider && host === row.host);
    return {
      row,
      credential: secrets.get(row.id) ?? null,
      identity: identity === undefined ? null : { externalUserId: identity.externalUserId, login: identity.login },
    };
  });
}
