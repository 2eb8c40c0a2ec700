import { MAX_HOOKS } from '@slipway/contracts/integrations';
import { type Columns, inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import { system } from '../../conversations/conversation.queries.js';

export type HookRow = Columns<'app.integration_hook', 'id' | 'repository' | 'state'> & {
  readonly connectionId: string;
  readonly secretId: string;
};

export async function findHook(client: PoolClient, orgId: string, id: string): Promise<HookRow | null> {
  const { rows } = await client.query<HookRow>(
    'SELECT id, connection_id AS "connectionId", repository, state, secret_id AS "secretId" FROM app.integration_hook WHERE org_id = $1 AND id = $2',
    [orgId, id],
  );
  return rows[0] ?? null;
}

export interface HookOutcome {
  readonly state: 'installed' | 'missing-right' | 'failed' | 'disabled';
  readonly detail: string | null;
  /** It was made at the host just now. */
  readonly made?: { readonly hookId: string; readonly repository: string; readonly secretId: string };
}

/** Not where it was asked for once more meanwhile. */
export async function noteHook(
  client: PoolClient,
  orgId: string,
  before: HookRow,
  { now, outcome: { state, detail, made } }: { readonly now: Date; readonly outcome: HookOutcome },
): Promise<void> {
  if (made !== undefined)
    // Under the name that the host has for it by now, unless there is one of that name already.
    await client.query(
      `UPDATE app.integration_hook h SET hook_id = $3, secret_id = $4, installed_at = $5, repository = CASE WHEN EXISTS (
         SELECT 1 FROM app.integration_hook o WHERE o.connection_id = h.connection_id AND o.id <> h.id AND lower(o.repository) = lower($6)) THEN repository ELSE $6 END
       WHERE org_id = $1 AND id = $2`,
      [orgId, before.id, made.hookId, made.secretId, now, made.repository],
    );
  await client.query(
    `UPDATE app.integration_hook SET state = $3, detail = left($4, 300), checked_at = $5 WHERE org_id = $1 AND id = $2`,
    [orgId, before.id, state, detail, now],
  );
}

/** The outbox leaves the job alone for as long. */
export async function postponeHook(
  pool: SqlPool,
  orgId: string,
  { id }: HookRow,
  { ms, why }: { readonly ms: number; readonly why: string | null },
): Promise<void> {
  await inOrg(pool, orgId, async (client) => {
    await client.query(
      `INSERT INTO app.outbox (id, org_id, queue, key, payload, enqueued_at)
       VALUES (gen_random_uuid(), $1, 'integration-hook', $2, jsonb_build_object('orgId', $1::text, 'hookId', $2::text), clock_timestamp() + $3 * interval '1 millisecond')
       ON CONFLICT (queue, key) DO UPDATE SET enqueued_at = excluded.enqueued_at`,
      [orgId, id, ms],
    );
    await client.query(
      'UPDATE app.integration_hook SET detail = left($3, 300), checked_at = now() WHERE org_id = $1 AND id = $2',
      [orgId, id, why],
    );
  });
}

/**
 * Rows for repositories that have none. @returns the ids of the new ones, whose jobs are in the outbox, and whether
 * there was room for all.
 */
export async function addHooks(
  client: PoolClient,
  orgId: string,
  connectionId: string,
  names: readonly string[],
): Promise<{ readonly ids: readonly string[]; readonly whole: boolean }> {
  const { rows: known } = await client.query<{ name: string }>(
    'SELECT lower(repository) AS name FROM app.integration_hook WHERE org_id = $1 AND connection_id = $2',
    [orgId, connectionId],
  );
  const have = new Set(known.map(({ name }) => name));
  const wanted = [...new Map(names.map((name) => [name.toLowerCase(), name])).entries()]
    .filter(([key]) => !have.has(key))
    .map(([, name]) => name);
  const added = wanted.slice(0, Math.max(MAX_HOOKS - have.size, 0));
  const { rows } = await client.query<{ id: string }>(
    `WITH made AS (
       INSERT INTO app.integration_hook (id, org_id, connection_id, repository, hook_id, secret_id, installed_by, installed_by_label, state)
       SELECT gen_random_uuid(), $1, $2, name, '', '', 'selection', 'Selection', 'queued' FROM unnest($3::text[]) AS name
       ON CONFLICT (connection_id, lower(repository)) DO NOTHING RETURNING id)
     INSERT INTO app.outbox (id, org_id, queue, key, payload, enqueued_at)
     SELECT gen_random_uuid(), $1, 'integration-hook', id::text, jsonb_build_object('orgId', $1::text, 'hookId', id), clock_timestamp() FROM made
     ON CONFLICT (queue, key) DO UPDATE SET enqueued_at = clock_timestamp() RETURNING key AS id`,
    [orgId, connectionId, added],
  );
  return { ids: rows.map(({ id }) => id), whole: added.length === wanted.length };
}

export async function noteListed(
  client: PoolClient,
  orgId: string,
  connectionId: string,
  problem: string | null,
): Promise<void> {
  await client.query(
    'UPDATE app.integration_connection SET hooks_listed_at = now(), hooks_problem = left($3, 300) WHERE org_id = $1 AND id = $2',
    [orgId, connectionId, problem],
  );
}

const BATCH = 200;

/** Webhooks not checked for so long, the longest first. */
export function hooksToCheck(pool: SqlPool, hours: number): Promise<Array<{ orgId: string; hookId: string }>> {
  return system(pool, 'webhook check', async (client) => {
    const { rows } = await client.query<{ orgId: string; hookId: string }>(
      `SELECT h.org_id AS "orgId", h.id AS "hookId" FROM app.integration_hook h JOIN app.integration_connection c ON c.id = h.connection_id AND c.state <> 'disabled'
       WHERE coalesce(h.checked_at, h.installed_at) < now() - $1 * interval '1 hour' ORDER BY coalesce(h.checked_at, h.installed_at) LIMIT $2`,
      [hours, BATCH],
    );
    return rows;
  });
}

/** Connections whose patterns were not matched for so long. */
export function selectionsToList(
  pool: SqlPool,
  hours: number,
): Promise<Array<{ orgId: string; connectionId: string }>> {
  return system(pool, 'webhook check', async (client) => {
    const { rows } = await client.query<{ orgId: string; connectionId: string }>(
      `SELECT org_id AS "orgId", id AS "connectionId" FROM app.integration_connection
       WHERE hook_patterns <> '{}' AND state <> 'disabled' AND (hooks_listed_at IS NULL OR hooks_listed_at < now() - $1 * interval '1 hour') ORDER BY hooks_listed_at NULLS FIRST LIMIT $2`,
      [hours, BATCH],
    );
    return rows;
  });
}
