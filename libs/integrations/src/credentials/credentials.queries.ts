import { CREDENTIAL_KINDS, type CredentialKind } from '@slipway/db/conversations';
import type { PoolClient } from '@slipway/db/sql';

/** A connection's credential as it is stored. */
export interface StoredCredential {
  readonly id: string;
  readonly kind: CredentialKind;
  readonly bytes: Buffer;
  readonly keyVersion: number;
}

/** The newest of a connection. `null`: it has none. */
export async function findCredentialSecret(
  client: PoolClient,
  orgId: string,
  connectionId: string,
): Promise<StoredCredential | null> {
  const { rows } = await client.query<StoredCredential>({
    name: 'find-credential-secret',
    text: `SELECT id, kind, sealed AS bytes, key_version AS "keyVersion" FROM app.integration_secret WHERE org_id = $1 AND connection_id = $2 AND kind = ANY ($3)
           ORDER BY created_at DESC LIMIT 1`,
    values: [orgId, connectionId, CREDENTIAL_KINDS],
  });
  return rows[0] ?? null;
}

/** The newest of each connection of the organization, by the connection's id. */
export async function credentialSecretsOf(
  client: PoolClient,
  orgId: string,
): Promise<ReadonlyMap<string, StoredCredential>> {
  const { rows } = await client.query<StoredCredential & { connectionId: string }>(
    `SELECT DISTINCT ON (connection_id) connection_id AS "connectionId", id, kind, sealed AS bytes, key_version AS "keyVersion" FROM app.integration_secret
     WHERE org_id = $1 AND kind = ANY ($2) ORDER BY connection_id, created_at DESC`,
    [orgId, CREDENTIAL_KINDS],
  );
  return new Map(rows.map(({ connectionId, ...stored }) => [connectionId, stored]));
}
