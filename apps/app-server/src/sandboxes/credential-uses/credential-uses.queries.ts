import type { AskedUse, CredentialUse, CredentialUseQuestion } from '@slipway/contracts/credentials';
import { EACH_USE_MINUTES } from '@slipway/contracts/credentials';
import { EGRESS_ONCE_SECONDS, EGRESS_REQUEST_HOURS, type EgressRequest } from '@slipway/contracts/sandboxes';
import type { Columns, PoolClient } from '@slipway/db/sql';
import type { UseKeys } from './use-keys.js';

type RequestRow = Columns<
  'app.credential_request',
  | 'id'
  | 'state'
  | 'scope'
  | 'host'
  | 'port'
  | 'credential_id'
  | 'place_key'
  | 'use'
  | 'tries'
  | 'first_time'
  | 'reason'
  | 'created_at'
  | 'decided_at'
  | 'decided_by_label',
  { state: EgressRequest['state']; scope: 'once' | 'conversation' | null; use: AskedUse }
>;
/** One that nobody has answered in time is over at once. */
const STATE = `CASE WHEN state = 'waiting' AND created_at < now() - interval '${EGRESS_REQUEST_HOURS} hours' THEN 'expired' ELSE state END AS state`;
const COLUMNS = `id, host, port, credential_id, place_key, use, tries, first_time, ${STATE}, scope, reason, created_at, decided_at, decided_by_label`;

/** A request with what only app-server needs of it. */
export interface UseRequest {
  readonly request: EgressRequest & { readonly use: AskedUse };
  readonly credentialId: string;
  readonly placeKey: string;
}

/** Until the transaction ends, uses of a conversation are decided here alone. */
export async function lockUses(client: PoolClient, orgId: string, conversationId: string): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `credential-use ${orgId} ${conversationId}`,
  ]);
}

/** An active credential that has not ended, unchanged until the transaction ends. */
export async function shareCredential(
  client: PoolClient,
  orgId: string,
  id: string,
): Promise<{ readonly name: string; readonly use: CredentialUse } | null> {
  const { rows } = await client.query<{ name: string; use: CredentialUse }>(
    `SELECT name, use FROM app.credential
     WHERE org_id = $1 AND id = $2 AND state = 'active' AND (expires_at IS NULL OR expires_at > now()) FOR SHARE`,
    [orgId, id],
  );
  return rows[0] ?? null;
}

/** A use that was let through. @returns what it was for; `null`: there is none. */
export async function readUse(client: PoolClient, orgId: string, id: string): Promise<string | null> {
  const { rows } = await client.query<{ fingerprint: string }>(
    'SELECT fingerprint FROM app.credential_use WHERE org_id = $1 AND id = $2::uuid',
    [orgId, id],
  );
  return rows[0]?.fingerprint ?? null;
}

export async function countUses(
  client: PoolClient,
  { org, conversation, credential }: CredentialUseQuestion,
  keys: UseKeys,
): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM app.credential_use
     WHERE org_id = $1 AND conversation_id = $2 AND credential_id = $3 AND place = $4 AND counted`,
    [org, conversation, credential, keys.counted],
  );
  return rows[0]?.count ?? 0;
}

/** Under the lock. Forgets those of an hour ago that count for no limit: no question is repeated for so long. */
export async function insertUse(
  client: PoolClient,
  { org, conversation, credential, use }: CredentialUseQuestion,
  keys: UseKeys,
  counted: boolean,
): Promise<void> {
  await client.query(
    `DELETE FROM app.credential_use WHERE org_id = $1 AND conversation_id = $2 AND NOT counted AND at < now() - interval '1 hour'`,
    [org, conversation],
  );
  await client.query(
    `INSERT INTO app.credential_use (org_id, id, conversation_id, credential_id, place, fingerprint, counted) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [org, use, conversation, credential, keys.counted, keys.request, counted],
  );
}

/**
 * Under the lock: whether somebody has said yes. A yes for one request is taken by it; one for a first use holds for
 * its path for a minute, or for its place as long as the conversation.
 */
export async function takeYes(
  client: PoolClient,
  { org, conversation, credential, claim, use }: CredentialUseQuestion,
  keys: UseKeys,
  each: boolean,
): Promise<boolean> {
  const about = `org_id = $1 AND conversation_id = $2 AND credential_id = $3 AND place_key = $4 AND state = 'allowed'`;
  const once = `scope = 'once' AND fingerprint = $5 AND claim_id = $6`;
  const values = [org, conversation, credential, keys.place, keys.asked, claim];
  const { rowCount } = await (each
    ? client.query(
        `UPDATE app.credential_request SET used_by = $7 WHERE org_id = $1 AND used_by IS NULL AND id = (
           SELECT id FROM app.credential_request WHERE ${about} AND ${once} AND used_by IS NULL
             AND decided_at > now() - interval '${EACH_USE_MINUTES} minutes' ORDER BY decided_at, id LIMIT 1)`,
        [...values, use],
      )
    : client.query(
        `SELECT 1 FROM app.credential_request WHERE ${about}
           AND (scope = 'conversation' OR ${once} AND decided_at > now() - interval '${EGRESS_ONCE_SECONDS} seconds') LIMIT 1`,
        values,
      ));
  return (rowCount ?? 0) > 0;
}

/** One that waits for the same answer, of which a try is counted; else whether a no within the hour is about it. */
export async function tryUseAgain(
  client: PoolClient,
  { org, conversation, credential, method, path }: CredentialUseQuestion,
  keys: UseKeys,
): Promise<{ readonly waiting: string | null; readonly denied: boolean }> {
  const { rows } = await client.query<{ id: string }>(
    `UPDATE app.credential_request SET tries = least(tries + 1, 1000000)
     WHERE org_id = $1 AND conversation_id = $2 AND fingerprint = $3 AND state = 'waiting'
       AND created_at > now() - interval '${EGRESS_REQUEST_HOURS} hours' RETURNING id`,
    [org, conversation, keys.asked],
  );
  if (rows[0] !== undefined) return { waiting: rows[0].id, denied: false };
  const { rowCount } = await client.query(
    `SELECT 1 FROM app.credential_request WHERE org_id = $1 AND conversation_id = $2 AND credential_id = $3 AND place_key = $4
       AND state = 'denied' AND use->>'method' = $5 AND use->>'path' = $6 AND decided_at > now() - interval '1 hour' LIMIT 1`,
    [org, conversation, credential, keys.place, method, path],
  );
  return { waiting: null, denied: (rowCount ?? 0) > 0 };
}

/** Under the conversation's lock. Ends those that nobody has answered. */
export async function insertUseRequest(
  client: PoolClient,
  id: string,
  { org, conversation, claim, host, port, credential }: CredentialUseQuestion,
  { keys, asked }: { readonly keys: UseKeys; readonly asked: AskedUse },
): Promise<EgressRequest> {
  await client.query(
    `UPDATE app.credential_request SET state = 'expired', decided_at = now()
     WHERE org_id = $1 AND conversation_id = $2 AND state = 'waiting' AND created_at < now() - make_interval(hours => $3)`,
    [org, conversation, EGRESS_REQUEST_HOURS],
  );
  const { rows } = await client.query<RequestRow>(
    `INSERT INTO app.credential_request (org_id, id, conversation_id, claim_id, host, port, credential_id, place_key, use, fingerprint, first_time)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
       NOT EXISTS (SELECT 1 FROM app.credential_request r WHERE r.org_id = $1 AND r.credential_id = $7 AND r.state = 'allowed'))
     RETURNING ${COLUMNS}`,
    [org, id, conversation, claim, host, port, credential, keys.place, JSON.stringify(asked), keys.asked],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('a request was not written');
  return requestOf(row);
}

/** Newest first. */
export async function listUseRequests(
  client: PoolClient,
  orgId: string,
  conversationId: string,
): Promise<EgressRequest[]> {
  const { rows } = await client.query<RequestRow>(
    `SELECT ${COLUMNS} FROM app.credential_request WHERE org_id = $1 AND conversation_id = $2 ORDER BY created_at DESC, id DESC LIMIT 200`,
    [orgId, conversationId],
  );
  return rows.map((row) => ({ ...requestOf(row), askedBy: null }));
}

export async function readUseRequest(
  client: PoolClient,
  orgId: string,
  { conversationId, id }: { readonly conversationId: string; readonly id: string },
): Promise<UseRequest | null> {
  const { rows } = await client.query<RequestRow>(
    `SELECT ${COLUMNS} FROM app.credential_request WHERE org_id = $1 AND conversation_id = $2 AND id = $3`,
    [orgId, conversationId, id],
  );
  const [row] = rows;
  if (row === undefined) return null;
  return { request: requestOf(row), credentialId: row.credential_id, placeKey: row.place_key };
}

/** Under the conversation's lock, for one that waits. */
export async function decideUseRequest(
  client: PoolClient,
  orgId: string,
  id: string,
  decided: {
    readonly state: 'allowed' | 'denied';
    readonly scope: 'once' | 'conversation';
    readonly reason: string;
    readonly by: { readonly id: string; readonly label: string };
  },
): Promise<EgressRequest> {
  const { rows } = await client.query<RequestRow>(
    `UPDATE app.credential_request SET state = $3, scope = $4, reason = $5, decided_at = clock_timestamp(), decided_by = $6, decided_by_label = $7
     WHERE org_id = $1 AND id = $2 AND state = 'waiting' RETURNING ${COLUMNS}`,
    [orgId, id, decided.state, decided.scope, decided.reason, decided.by.id, decided.by.label],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('a request was not written');
  return requestOf(row);
}

function requestOf(row: RequestRow): EgressRequest & { readonly use: AskedUse } {
  return {
    id: row.id,
    host: row.host,
    port: row.port,
    state: row.state,
    tries: row.tries,
    actionId: null,
    firstTime: row.first_time,
    createdAt: row.created_at.toISOString(),
    decidedAt: row.decided_at?.toISOString() ?? null,
    decidedBy: row.decided_by_label,
    scope: row.scope,
    reason: row.reason,
    use: row.use,
  };
}
