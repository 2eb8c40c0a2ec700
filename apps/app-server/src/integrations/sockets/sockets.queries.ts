import type { ConnectionSettings } from '@slipway/contracts/integrations';
import { asSystem, inOrg, type SqlPool } from '@slipway/db/sql';

/** A connection that is delivered to over a socket, with the token that opens it. */
export interface SocketConnection {
  readonly id: string;
  readonly orgId: string;
  readonly provider: string;
  readonly host: string;
  readonly settings: ConnectionSettings;
  readonly secret: { readonly id: string; readonly bytes: Buffer; readonly keyVersion: number };
}

/** Connections of one poll; more than an installation has. */
const MOST = 2_000;

/** Of all organizations: those of the kinds, by `provider/kind`, that are not switched off, with their newest token. */
export function socketConnections(pool: SqlPool, kinds: readonly string[]): Promise<SocketConnection[]> {
  return asSystem(pool, 'slipway_app_system', 'sockets to providers', async (client) => {
    const { rows } = await client.query<
      Omit<SocketConnection, 'secret'> & { secretId: string; sealed: Buffer; keyVersion: number }
    >({
      name: 'socket-connections',
      text: `SELECT c.id, c.org_id AS "orgId", c.provider, c.host, c.settings, s.id AS "secretId", s.sealed, s.key_version AS "keyVersion"
             FROM app.integration_connection c JOIN app.org o ON o.id = c.org_id AND o.deletes_at IS NULL
             JOIN LATERAL (SELECT id, sealed, key_version FROM app.integration_secret WHERE connection_id = c.id AND kind = 'webhook' AND valid_until IS NULL
               ORDER BY created_at DESC, id DESC LIMIT 1) s ON true
             WHERE c.provider || '/' || c.kind = ANY ($1) AND c.state <> 'disabled' ORDER BY c.id LIMIT $2`,
      values: [kinds, MOST],
    });
    return rows.map(({ secretId, sealed, keyVersion, ...rest }) => ({
      ...rest,
      secret: { id: secretId, bytes: sealed, keyVersion },
    }));
  });
}

/** The socket delivers: the connection works, and needs no attention for it any more. */
export async function noteReady(pool: SqlPool, { orgId, id }: SocketConnection, reason: string): Promise<void> {
  await inOrg(pool, orgId, (client) =>
    client.query(
      `UPDATE app.integration_connection SET verified_at = coalesce(verified_at, now()), state = 'active', state_reason = NULL
       WHERE org_id = $1 AND id = $2 AND (state = 'unverified' OR (state = 'needs-attention' AND state_reason = $3))`,
      [orgId, id, reason],
    ),
  );
}

export async function noteRefused(
  pool: SqlPool,
  { orgId, id, secret }: SocketConnection,
  reason: string,
): Promise<void> {
  await inOrg(pool, orgId, (client) =>
    client.query(
      `UPDATE app.integration_connection SET state = 'needs-attention', state_reason = $3
       WHERE org_id = $1 AND id = $2 AND state IN ('unverified', 'active')
         AND EXISTS (SELECT 1 FROM app.integration_secret s WHERE s.org_id = $1 AND s.id = $4 AND s.valid_until IS NULL)`,
      [orgId, id, reason, secret.id],
    ),
  );
}
