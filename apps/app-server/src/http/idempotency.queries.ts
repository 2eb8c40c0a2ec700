import type { Columns, PoolClient } from '@slipway/db/sql';

/** A claim without an answer is another request's for this long; then its process is taken for dead. Seconds. */
const STALE_CLAIM_SECONDS = 60;
const KEPT_HOURS = 24;

export interface KeyOwner {
  readonly orgId: string;
  readonly actorId: string;
  readonly route: string;
  readonly key: string;
  readonly bodyHash: string;
}
export type Claim =
  | { outcome: 'claimed'; reservedId: string }
  | { outcome: 'other-body' | 'in-progress' }
  | { outcome: 'answered'; status: number; response: unknown };

/**
 * Takes the key for this request, or says how the first one with it stands. One of two at the same time gets it.
 * @param freshId reserved for what the request makes, unless an earlier one with this key began and gave no answer: it
 * may have made it under its own.
 */
export async function claimKey(client: PoolClient, owner: KeyOwner, freshId: string): Promise<Claim> {
  const claimed = await client.query<{ reserved: string }>(
    `INSERT INTO app.idempotency_key AS k (org_id, actor_id, route, key, body_hash, response) VALUES ($1, $2, $3, $4, $5, jsonb_build_object('reserved', $6::text))
     ON CONFLICT (org_id, actor_id, route, key) DO UPDATE SET body_hash = excluded.body_hash, status = NULL, created_at = now(),
         response = CASE WHEN k.status IS NULL AND k.body_hash = excluded.body_hash THEN coalesce(k.response, excluded.response) ELSE excluded.response END
       WHERE k.created_at < now() - interval '${KEPT_HOURS} hours'
          OR (k.status IS NULL AND k.created_at < now() - interval '${STALE_CLAIM_SECONDS} seconds')
     RETURNING k.response ->> 'reserved' AS reserved`,
    [owner.orgId, owner.actorId, owner.route, owner.key, owner.bodyHash, freshId],
  );
  const taken = claimed.rows[0];
  if (taken !== undefined) return { outcome: 'claimed', reservedId: taken.reserved };
  const { rows } = await client.query<Columns<'app.idempotency_key', 'body_hash' | 'status' | 'response'>>(
    'SELECT body_hash, status, response FROM app.idempotency_key WHERE org_id = $1 AND actor_id = $2 AND route = $3 AND key = $4',
    keyOf(owner),
  );
  const row = rows[0];
  // Given back in between: the next try gets it.
  if (row === undefined) return { outcome: 'in-progress' };
  if (row.body_hash !== owner.bodyHash) return { outcome: 'other-body' };
  return row.status === null
    ? { outcome: 'in-progress' }
    : { outcome: 'answered', status: row.status, response: row.response };
}

export async function storeAnswer(client: PoolClient, owner: KeyOwner, status: number, answer: unknown): Promise<void> {
  await client.query(
    'UPDATE app.idempotency_key SET status = $5, response = $6 WHERE org_id = $1 AND actor_id = $2 AND route = $3 AND key = $4',
    [...keyOf(owner), status, JSON.stringify(answer ?? null)],
  );
  await client.query(
    `DELETE FROM app.idempotency_key WHERE org_id = $1 AND created_at < now() - interval '${KEPT_HOURS} hours'`,
    [owner.orgId],
  );
}

/**
 * The next request with the key runs at once, under the same reserved id: this one may have done its work before it
 * failed.
 */
export async function loosenKey(client: PoolClient, owner: KeyOwner): Promise<void> {
  await client.query(
    `UPDATE app.idempotency_key SET created_at = now() - interval '${STALE_CLAIM_SECONDS + 1} seconds' WHERE org_id = $1 AND actor_id = $2 AND route = $3 AND key = $4 AND status IS NULL`,
    keyOf(owner),
  );
}

/** As if the key had never been used. */
export async function releaseKey(client: PoolClient, owner: KeyOwner): Promise<void> {
  await client.query(
    'DELETE FROM app.idempotency_key WHERE org_id = $1 AND actor_id = $2 AND route = $3 AND key = $4 AND status IS NULL',
    keyOf(owner),
  );
}

function keyOf(owner: KeyOwner): [string, string, string, string] {
  return [owner.orgId, owner.actorId, owner.route, owner.key];
}
