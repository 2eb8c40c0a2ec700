import type { PoolClient } from '@slipway/db/sql';
import type { Outcome } from '@slipway/integrations';
import type { StoredConnection } from '@slipway/integrations/deliveries';

const STATES = { merged: 'merged', closed: 'closed', reopened: 'open', changed: null } as const;

/**
 * Applies a delivery about a pull request or checks: ours take its state at once, and their jobs read the remaining
 * state. In the transaction of the decision.
 * @returns their ids, to be queued after the commit.
 */
export async function noteOutcome(
  client: PoolClient,
  orgId: string,
  { provider, host }: StoredConnection,
  outcome: Outcome,
): Promise<string[]> {
  const about =
    outcome.kind === 'pull-request'
      ? { number: outcome.number, state: STATES[outcome.state], sha: null }
      : { number: null, state: null, sha: outcome.headSha };
  const { rows } = await client.query<{ id: string }>({
    name: 'note-outcome',
    text: `WITH ours AS (
             UPDATE app.pull_request SET state = coalesce($7, state), updated_at = now()
             WHERE org_id = $1 AND host = $2 AND lower(repository) = lower($3) AND provider = $4 AND (number = $5 OR head_sha = $6) RETURNING id)
           INSERT INTO app.outbox (id, org_id, queue, key, payload, enqueued_at)
           SELECT gen_random_uuid(), $1, 'pull-request', id::text, jsonb_build_object('orgId', $1::text, 'pullRequestId', id), clock_timestamp() FROM ours
           ON CONFLICT (queue, key) DO UPDATE SET id = excluded.id, enqueued_at = clock_timestamp() RETURNING key AS id`,
    values: [orgId, host, outcome.repository.fullName, provider, about.number, about.sha, about.state],
  });
  return rows.map(({ id }) => id);
}
