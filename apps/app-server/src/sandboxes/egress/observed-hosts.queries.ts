import { MAX_OBSERVED_HOSTS, OBSERVED_DAYS, type ObservedHost } from '@slipway/contracts/sandboxes';
import type { PoolClient } from '@slipway/db/sql';

/** Rows of one organization that are read for its list. */
const MAX_LISTED = 500;

interface Reached {
  readonly org: string;
  readonly conversation: string;
  readonly host: string;
  readonly port: number;
}

/**
 * Records that the sandbox of a conversation reaches a host. Forgets what was not reached for `OBSERVED_DAYS`.
 *
 * @returns whether it is recorded: not where the conversation has reached `MAX_OBSERVED_HOSTS` others.
 */
export async function recordObserved(client: PoolClient, { org, conversation, host, port }: Reached): Promise<boolean> {
  const again = await client.query({
    name: 'egress-observed-again',
    text: `UPDATE app.egress_observed SET connections = least(connections + 1, 1000000000), last_at = now()
           WHERE org_id = $1 AND conversation_id = $2 AND host = $3 AND port = $4`,
    values: [org, conversation, host, port],
  });
  if (again.rowCount === 1) return true;
  await client.query(
    'DELETE FROM app.egress_observed WHERE org_id = $1 AND last_at < now() - make_interval(days => $2)',
    [org, OBSERVED_DAYS],
  );
  // One after the other, so that the bound holds for connections that come together.
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`egress-observed ${conversation}`]);
  const { rowCount } = await client.query(
    `INSERT INTO app.egress_observed AS o (org_id, conversation_id, host, port)
     SELECT $1, $2, $3, $4 WHERE (SELECT count(*) FROM app.egress_observed WHERE org_id = $1 AND conversation_id = $2) < $5
     ON CONFLICT (org_id, host, port, conversation_id) DO UPDATE SET connections = o.connections + 1, last_at = now()`,
    [org, conversation, host, port, MAX_OBSERVED_HOSTS],
  );
  return rowCount === 1;
}

/** Those of the most conversations first. */
export async function listObserved(client: PoolClient, orgId: string): Promise<ObservedHost[]> {
  const { rows } = await client.query<{
    host: string;
    port: number;
    conversations: number;
    connections: number;
    first_at: Date;
    last_at: Date;
  }>(
    `SELECT host, port, count(*)::integer AS conversations, least(sum(connections), 2000000000)::integer AS connections,
            min(first_at) AS first_at, max(last_at) AS last_at
     FROM app.egress_observed WHERE org_id = $1 AND last_at > now() - make_interval(days => $2)
     GROUP BY host, port ORDER BY conversations DESC, connections DESC, host, port LIMIT $3`,
    [orgId, OBSERVED_DAYS, MAX_LISTED],
  );
  return rows.map(({ first_at, last_at, ...row }) => ({
    ...row,
    firstAt: first_at.toISOString(),
    lastAt: last_at.toISOString(),
  }));
}
