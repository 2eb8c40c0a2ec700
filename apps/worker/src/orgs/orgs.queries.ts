import { randomUUID } from 'node:crypto';
import { type Columns, inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import { system } from '../conversations/conversation.queries.js';
import { OUTBOX_AGE_SECONDS } from '../sweeps/sweeps.queries.js';

/** Organizations of one sweep. */
const BATCH = 500;

/** Those that wait for their deletion and have something that runs, and those whose time is over. */
export function orgsToClose(pool: SqlPool): Promise<Array<{ orgId: string; due: boolean }>> {
  return system(pool, 'deletion sweep', async (client) => {
    const { rows } = await client.query<{ orgId: string; due: boolean }>(
      `SELECT o.id AS "orgId", o.deletes_at <= now() AS due FROM app.org o
       WHERE o.deletes_at IS NOT NULL AND (o.deletes_at <= now() OR EXISTS (SELECT 1 FROM app.conversation c WHERE c.org_id = o.id AND c.desired = 'run')) LIMIT $1`,
      [BATCH],
    );
    return rows;
  });
}

/** Whether it waits for its deletion, or is due; `null`: neither, or it is gone. */
export function deletionOf(pool: SqlPool, orgId: string): Promise<'waits' | 'due' | null> {
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<{ due: boolean }>(
      'SELECT deletes_at <= now() AS due FROM app.org WHERE id = $1 AND deletes_at IS NOT NULL',
      [orgId],
    );
    return rows[0] === undefined ? null : rows[0].due ? 'due' : 'waits';
  });
}

export type OutboxJob = Columns<'app.outbox', 'id'> & {
  readonly ageMs: number;
};

export function readOutboxJob(pool: SqlPool, orgId: string, queue: string, key: string): Promise<OutboxJob | null> {
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<OutboxJob>(
      `SELECT id, (extract(epoch FROM clock_timestamp() - enqueued_at) * 1000)::float8 AS "ageMs" FROM app.outbox WHERE queue = $1 AND key = $2`,
      [queue, key],
    );
    return rows[0] ?? null;
  });
}

/** Deletes an outbox job that was read, unless it was replaced since. */
export async function deleteOutboxJob(pool: SqlPool, orgId: string, id: string): Promise<void> {
  await inOrg(pool, orgId, (client) => client.query('DELETE FROM app.outbox WHERE id = $1', [id]));
}

/** The sweep leaves the job of an outbox row that was read alone for so long, unless the row was replaced since. */
export async function delayOutboxRow(pool: SqlPool, orgId: string, id: string, ms: number): Promise<void> {
  await inOrg(pool, orgId, (client) =>
    client.query(
      `UPDATE app.outbox SET enqueued_at = clock_timestamp() + $3 * interval '1 millisecond' WHERE org_id = $1 AND id = $2`,
      [orgId, id, ms - OUTBOX_AGE_SECONDS * 1_000],
    ),
  );
}

/**
 * Marks up to `limit` running conversations for a pause, with their jobs, in one transaction.
 * @param createdBy `null`: of all users.
 * @returns their ids; none: nothing is left to do.
 */
export function pauseRunning(pool: SqlPool, orgId: string, createdBy: string | null, limit: number): Promise<string[]> {
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<Columns<'app.conversation', 'id'>>(
      `UPDATE app.conversation SET desired = 'rest' WHERE id IN
         (SELECT id FROM app.conversation WHERE org_id = $1 AND ($2::text IS NULL OR created_by = $2) AND desired = 'run' ORDER BY id LIMIT $3 FOR UPDATE)
       RETURNING id`,
      [orgId, createdBy, limit],
    );
    for (const { id } of rows)
      await client.query(
        `INSERT INTO app.outbox (id, org_id, queue, key, payload, enqueued_at) VALUES ($1, $2, 'conversation-pause', $3, $4::jsonb, clock_timestamp())
         ON CONFLICT (queue, key) DO UPDATE SET id = excluded.id, enqueued_at = clock_timestamp()`,
        [randomUUID(), orgId, id, JSON.stringify({ orgId, conversationId: id })],
      );
    return rows.map(({ id }) => id);
  });
}

export function someConversations(pool: SqlPool, orgId: string, limit: number): Promise<string[]> {
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<Columns<'app.conversation', 'id'>>(
      'SELECT id FROM app.conversation WHERE org_id = $1 ORDER BY created_at, id LIMIT $2',
      [orgId, limit],
    );
    return rows.map(({ id }) => id);
  });
}

export interface TenantTable {
  readonly name: string;
  /** Its rows belong to one conversation each. */
  readonly ofConversation: boolean;
}

/** What goes last, in one transaction: until then the organization is there to be found by the next attempt. */
const LAST: readonly string[] = ['conversation', 'membership'];

/** What is sealed under them refers to them: they go after it. */
const DATA_KEYS = 'org_data_key';

/**
 * Every table of organizations' rows that may be deleted from, so that one which is made later is not forgotten. The
 * audit's may not: it stays.
 */
export function tenantTables(pool: SqlPool): Promise<TenantTable[]> {
  return system(pool, 'delete an organization', async (client) => {
    const { rows } = await client.query<TenantTable>(
      `SELECT c.relname AS name, EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'conversation_id' AND NOT a.attisdropped) AS "ofConversation"
       FROM pg_class c WHERE c.relnamespace = 'app'::regnamespace AND c.relkind IN ('r', 'p')
         AND EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'org_id' AND NOT a.attisdropped)
         AND has_table_privilege('slipway_app', c.oid, 'DELETE') AND NOT c.relname = ANY ($1) ORDER BY c.relname = $2, 1`,
      [LAST, DATA_KEYS],
    );
    return rows;
  });
}

export interface DeletedRows {
  readonly table: TenantTable;
  readonly conversationId: string | null;
  readonly limit: number;
}

/**
 * Deletes up to `limit` rows of one conversation, or of the organization, in a transaction of its own. @returns how
 * many.
 */
export function deleteSome(
  pool: SqlPool,
  orgId: string,
  { table, conversationId, limit }: DeletedRows,
): Promise<number> {
  return inOrg(pool, orgId, async (client) => {
    const which = conversationId === null ? 'org_id = $1' : 'org_id = $1 AND conversation_id = $3';
    const { rowCount } = await client.query(
      `DELETE FROM app."${table.name}" WHERE ctid = ANY (ARRAY(SELECT ctid FROM app."${table.name}" WHERE ${which} LIMIT $2))`,
      conversationId === null ? [orgId, limit] : [orgId, limit, conversationId],
    );
    return rowCount ?? 0;
  });
}

export async function deleteConversation(pool: SqlPool, orgId: string, id: string): Promise<void> {
  await inOrg(pool, orgId, (client) => client.query('SELECT app.delete_conversation($1, $2)', [orgId, id]));
}

/**
 * The organization itself, with the record that it is gone. @returns false when it is not due any more, or gone
 * already, or something was written into it meanwhile.
 */
export function deleteOrgRow(pool: SqlPool, orgId: string): Promise<boolean> {
  return inOrg(pool, orgId, async (client: PoolClient) => {
    const { rows } = await client.query<Columns<'app.org', 'name' | 'slug'>>(
      `SELECT name, slug FROM app.org o WHERE id = $1 AND deletes_at <= now() AND NOT EXISTS (SELECT 1 FROM app.conversation WHERE org_id = $1) FOR UPDATE`,
      [orgId],
    );
    const org = rows[0];
    if (org === undefined) return false;
    await client.query('DELETE FROM app.membership WHERE org_id = $1', [orgId]);
    await client.query(
      `INSERT INTO app.audit_entry (id, org_id, actor_kind, actor_id, actor_label, action, target, before)
       VALUES ($1, $2, 'system', 'worker', 'Slipway', 'org.deleted', $2, $3::jsonb)`,
      [randomUUID(), orgId, JSON.stringify(org)],
    );
    await client.query('DELETE FROM app.org WHERE id = $1', [orgId]);
    return true;
  });
}
