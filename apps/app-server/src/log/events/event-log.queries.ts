import type { EventKind } from '@slipway/contracts/events';
import { asSystem, type Columns, inOrg, type SqlPool } from '@slipway/db/sql';
import { type LogLine, logLine } from './log-line.js';

/**
 * Lines with `after < seq` (and `seq < before`), ascending, at most `limit`. With `before` they are the last ones of
 * that range. One round trip.
 */
export async function readLines(
  pool: SqlPool,
  orgId: string,
  conversationId: string,
  range: { after: number; before?: number | undefined; limit: number },
): Promise<LogLine[]> {
  const { rows } = await pool.query<{ seq: number; epoch: number; event: string }>({
    name: 'read-events',
    text: 'SELECT seq, epoch, event FROM app.read_events($1, $2, $3, $4, $5)',
    values: [orgId, conversationId, range.after, range.before ?? null, range.limit],
  });
  return rows.map((row) => logLine(conversationId, row.seq, row.epoch, row.event));
}

/** As `readLines`, of one kind alone. Scans the lines of the range until there are enough. */
export async function readLinesOfKind(
  pool: SqlPool,
  orgId: string,
  conversationId: string,
  range: { after: number; before?: number | undefined; limit: number; kind: EventKind },
): Promise<LogLine[]> {
  const order = range.before === undefined ? 'ASC' : 'DESC';
  const { rows } = await inOrg(pool, orgId, (client) =>
    client.query<Columns<'app.event', 'seq' | 'epoch'> & { event: string }>({
      name: `read-events-of-kind-${order}`,
      text: `SELECT seq, epoch, event::text AS event FROM app.event
             WHERE org_id = $1 AND conversation_id = $2 AND kind = $3 AND seq > $4 AND ($5::bigint IS NULL OR seq < $5)
             ORDER BY seq ${order} LIMIT $6`,
      values: [orgId, conversationId, range.kind, range.after, range.before ?? null, range.limit],
    }),
  );
  const lines = rows.map((row) => logLine(conversationId, row.seq, row.epoch, row.event));
  return range.before === undefined ? lines : lines.reverse();
}

/** Last `seq` of the log, or `null` when the organization has no such conversation. */
export async function readHead(pool: SqlPool, orgId: string, conversationId: string): Promise<number | null> {
  const { rows } = await inOrg(pool, orgId, (client) =>
    client.query<Columns<'app.conversation', 'head'>>({
      name: 'read-head',
      text: 'SELECT head FROM app.conversation WHERE org_id = $1 AND id = $2',
      values: [orgId, conversationId],
    }),
  );
  return rows[0]?.head ?? null;
}

/** Heads of many conversations, of whatever organizations, in one query. Deleted ones are absent. */
export async function readHeads(pool: SqlPool, conversationIds: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await asSystem(
    pool,
    'slipway_app_system',
    'compare heads of conversations that have readers',
    (client) =>
      client.query<Columns<'app.conversation', 'id' | 'head'>>({
        name: 'read-heads',
        text: 'SELECT id, head FROM app.conversation WHERE id = ANY($1::uuid[])',
        values: [conversationIds],
      }),
  );
  return new Map(rows.map((row) => [row.id, row.head]));
}

/**
 * How long ago the event after the last one that a reader has was committed, by the database's own clock. Milliseconds;
 * absent where it is not there any more.
 */
export async function readHeadAges(
  pool: SqlPool,
  readers: readonly { readonly conversationId: string; readonly head: number }[],
): Promise<Map<string, number>> {
  const { rows } = await asSystem(pool, 'slipway_app_system', 'ages of events that readers have not had', (client) =>
    client.query<{ id: string; age: number }>({
      name: 'read-head-ages',
      text: `SELECT e.conversation_id AS id, extract(epoch FROM clock_timestamp() - e.created_at)::float8 * 1000 AS age
             FROM unnest($1::uuid[], $2::bigint[]) AS r(id, head) JOIN app.event e ON e.conversation_id = r.id AND e.seq = r.head + 1`,
      values: [readers.map(({ conversationId }) => conversationId), readers.map(({ head }) => head)],
    }),
  );
  return new Map(rows.map(({ id, age }) => [id, Math.max(0, age)]));
}

/** A payload that an event of this conversation refers to, or `null`. */
export async function readBlob(
  pool: SqlPool,
  orgId: string,
  conversationId: string,
  sha256: string,
): Promise<Buffer | null> {
  const { rows } = await inOrg(pool, orgId, (client) =>
    client.query<Columns<'app.blob', 'content'>>({
      name: 'read-blob',
      text: `SELECT b.content FROM app.conversation_blob c JOIN app.blob b ON b.org_id = c.org_id AND b.sha256 = c.sha256
             WHERE c.org_id = $1 AND c.conversation_id = $2 AND c.sha256 = $3`,
      values: [orgId, conversationId, sha256],
    }),
  );
  return rows[0]?.content ?? null;
}
