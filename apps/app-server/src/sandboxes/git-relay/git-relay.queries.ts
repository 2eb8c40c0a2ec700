import type { ConnectionSettings } from '@slipway/contracts/integrations';
import { CREDENTIAL_KINDS } from '@slipway/db/conversations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { StoredCredential } from '@slipway/integrations/credentials';

export interface GrantedRepository {
  readonly provider: string;
  readonly host: string;
  readonly account: string | null;
  readonly settings: ConnectionSettings;
  readonly state: string;
  /** As the host writes it. */
  readonly fullName: string;
  /** Of the connection now; `null`: it has none any more. */
  readonly credential: StoredCredential | null;
}

/**
 * A repository that a conversation may read through a connection, by its name in any case. `null`: it may not, or its
 * sandbox is an old one, or it is paused.
 */
export function findGrant(
  pool: SqlPool,
  orgId: string,
  wanted: {
    readonly conversation: string;
    readonly epoch: number;
    readonly connection: string;
    readonly fullName: string;
  },
): Promise<GrantedRepository | null> {
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<
      Omit<GrantedRepository, 'credential'> & {
        id: string | null;
        kind: StoredCredential['kind'];
        sealed: Buffer;
        keyVersion: number;
      }
    >({
      name: 'find-repository-grant',
      text: `SELECT c.provider, c.host, c.settings, c.account, c.state, g.full_name AS "fullName", t.id, t.kind, t.sealed, t.key_version AS "keyVersion"
             FROM app.repository_grant g
             JOIN app.integration_connection c ON c.id = g.connection_id AND c.org_id = g.org_id
             JOIN app.conversation v ON v.id = g.conversation_id AND v.org_id = g.org_id AND v.epoch = $5 AND v.desired = 'run'
             JOIN app.org o ON o.id = g.org_id AND o.deletes_at IS NULL
             LEFT JOIN LATERAL (SELECT id, kind, sealed, key_version FROM app.integration_secret
                                WHERE org_id = $1 AND connection_id = c.id AND kind = ANY ($6) ORDER BY created_at DESC LIMIT 1) t ON true
             WHERE g.org_id = $1 AND g.conversation_id = $2 AND g.connection_id = $3 AND lower(g.full_name) = lower($4)`,
      values: [orgId, wanted.conversation, wanted.connection, wanted.fullName, wanted.epoch, CREDENTIAL_KINDS],
    });
    const row = rows[0];
    if (row === undefined) return null;
    const { id, kind, sealed: bytes, keyVersion, ...grant } = row;
    return { ...grant, credential: id === null ? null : { id, kind, bytes, keyVersion } };
  });
}
