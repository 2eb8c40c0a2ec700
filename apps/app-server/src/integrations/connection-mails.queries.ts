import type { Columns, PoolClient } from '@slipway/db/sql';

/** What is to be mailed of one connection. */
export interface ConnectionNews {
  readonly org: string;
  readonly slug: string;
  readonly connectionId: string;
  readonly name: string;
  readonly host: string;
  /** `null`: it needs attention; else when its access token ends. */
  readonly endsAt: Date | null;
  readonly reason: string | null;
}

/**
 * A token that ends soon, that Slipway does not renew, and of which no notice was sent. @param until the parameter that
 * says what is soon.
 */
const endsSoon = (until: string): string =>
  `k.kind = 'token' AND k.expires_at IS NOT NULL AND k.expires_at <= ${until} AND k.end_mailed_at IS NULL`;

/** Organizations with pending notices. As the system role. @param until end of a token that is announced. */
export async function orgsWithNews(client: PoolClient, until: Date, limit: number): Promise<string[]> {
  const { rows } = await client.query<Columns<'app.integration_secret', 'org_id'>>(
    `(SELECT DISTINCT org_id FROM app.integration_connection WHERE state = 'needs-attention' AND attention_mailed_at IS NULL LIMIT $2)
     UNION (SELECT DISTINCT k.org_id FROM app.integration_secret k WHERE ${endsSoon('$1')} LIMIT $2)
     UNION (SELECT DISTINCT org_id FROM app.integration_connection WHERE state <> 'needs-attention' AND attention_mailed_at IS NOT NULL LIMIT $2) LIMIT $2`,
    [until, limit],
  );
  return rows.map(({ org_id }) => org_id);
}

/**
 * Takes pending notices, each once: a concurrent poll finds nothing. A recovered connection may need attention again.
 */
export async function takeNews(client: PoolClient, orgId: string, until: Date, now: Date): Promise<ConnectionNews[]> {
  await client.query(
    `UPDATE app.integration_connection SET attention_mailed_at = NULL WHERE org_id = $1 AND state <> 'needs-attention' AND attention_mailed_at IS NOT NULL`,
    [orgId],
  );
  const needing = await client.query<ConnectionNews>(
    `UPDATE app.integration_connection c SET attention_mailed_at = $2 FROM app.org o
     WHERE o.id = c.org_id AND c.org_id = $1 AND c.state = 'needs-attention' AND c.attention_mailed_at IS NULL
     RETURNING o.name AS org, o.slug, c.id AS "connectionId", c.name, c.host, NULL::timestamptz AS "endsAt", c.state_reason AS reason`,
    [orgId, now],
  );
  const ending = await client.query<ConnectionNews>(
    `UPDATE app.integration_secret k SET end_mailed_at = $2 FROM app.org o, app.integration_connection c
     WHERE o.id = k.org_id AND c.id = k.connection_id AND k.org_id = $1 AND ${endsSoon('$3')}
     RETURNING o.name AS org, o.slug, c.id AS "connectionId", c.name, c.host, k.expires_at AS "endsAt", NULL AS reason`,
    [orgId, now, until],
  );
  return [...needing.rows, ...ending.rows];
}
