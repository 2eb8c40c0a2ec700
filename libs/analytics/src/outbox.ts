import { ANALYTICS_EVENTS, type AnalyticsEvent } from '@slipway/contracts/operate';
import type { PoolClient } from '@slipway/db/sql';
import { EVENT_ALLOWED } from './consents.js';
import { analyticsEventId } from './event-id.js';

/**
 * Most pending events, under 20 MiB with their indexes. Beyond it nothing is made from the log until some were sent,
 * and what the page reports is dropped.
 */
export const MAX_WAITING = 30_000;

export interface MadeEvent {
  readonly event: AnalyticsEvent;
  /** What it is about: the same source and name are the same event. */
  readonly source: string;
  readonly userId: string;
  readonly at: Date;
}

/** A row of the outbox. */
export interface StoredEvent {
  readonly id: string;
  readonly orgId: string;
  readonly userId: string;
  readonly name: string;
  readonly at: Date;
  readonly properties: Readonly<Record<string, string | number | boolean>>;
}

/**
 * Puts events into the outbox that organization and user allow now; the others are gone. In the caller's transaction.
 * @returns how many are new there.
 * A property that the catalogue refuses takes its event with it: no log is read again and again for the sake of one.
 */
export async function keepEvents(client: PoolClient, orgId: string, events: readonly MadeEvent[]): Promise<number> {
  if (events.length === 0) return 0;
  const rows = events.flatMap(({ event: { name, properties }, source, userId, at }) => {
    const read = ANALYTICS_EVENTS[name].safeParse(properties);
    return read.success
      ? [{ id: analyticsEventId(source, name), user_id: userId, name, at, properties: read.data }]
      : [];
  });
  const { rowCount } = await client.query({
    name: 'keep-analytics-events',
    text: `INSERT INTO app.analytics_event (id, org_id, user_id, name, at, properties)
           SELECT e.id, e.org_id, e.user_id, e.name, e.at, e.properties
           FROM (SELECT r.id, $1::text AS org_id, r.user_id, r.name, r.at, r.properties
                 FROM jsonb_to_recordset($2::jsonb) AS r(id uuid, user_id text, name text, at timestamptz, properties jsonb)) e
           WHERE ${EVENT_ALLOWED} ON CONFLICT (id) DO NOTHING`,
    values: [orgId, JSON.stringify(rows)],
  });
  return rowCount ?? 0;
}

/** Rows of the outbox, counted up to one above its limit. */
export async function countWaiting(client: Pick<PoolClient, 'query'>): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM (SELECT 1 FROM app.analytics_event LIMIT ${MAX_WAITING + 1}) waiting`,
  );
  return rows[0]?.count ?? 0;
}

const COLUMNS = 'e.id, e.org_id AS "orgId", e.user_id AS "userId", e.name, e.at, e.properties';

/**
 * The oldest that organization and user allow at this moment; what they no longer allow is deleted. As the system role.
 */
export async function takeAllowed(client: PoolClient, limit: number): Promise<StoredEvent[]> {
  const { rows } = await client.query<StoredEvent & { allowed: boolean }>({
    name: 'take-analytics-events',
    text: `SELECT ${COLUMNS}, ${EVENT_ALLOWED} AS allowed FROM app.analytics_event e ORDER BY e.made_at, e.id LIMIT $1`,
    values: [limit],
  });
  const refused = rows.filter(({ allowed }) => !allowed).map(({ id }) => id);
  if (refused.length > 0) await deleteEvents(client, refused);
  return rows.filter(({ allowed }) => allowed).map(({ allowed: _, ...event }) => event);
}

export async function deleteEvents(client: PoolClient, ids: readonly string[]): Promise<void> {
  await client.query({
    name: 'delete-analytics-events',
    text: 'DELETE FROM app.analytics_event WHERE id = ANY ($1::uuid[])',
    values: [ids],
  });
}

/** Puts events behind all others: a receiver that refuses them must not block the rest. */
export async function postponeEvents(client: PoolClient, ids: readonly string[]): Promise<void> {
  await client.query({
    name: 'postpone-analytics-events',
    text: 'UPDATE app.analytics_event SET made_at = clock_timestamp() WHERE id = ANY ($1::uuid[])',
    values: [ids],
  });
}

/** The oldest of an organization, and how many there are. */
export async function waitingOfOrg(
  client: PoolClient,
  orgId: string,
  limit: number,
): Promise<{ events: StoredEvent[]; total: number }> {
  const { rows } = await client.query<StoredEvent & { total: number }>({
    name: 'waiting-analytics-events',
    text: `SELECT ${COLUMNS}, count(*) OVER ()::int AS total FROM app.analytics_event e WHERE e.org_id = $1 ORDER BY e.made_at, e.id LIMIT $2`,
    values: [orgId, limit],
  });
  return { events: rows.map(({ total: _, ...event }) => event), total: rows[0]?.total ?? 0 };
}
