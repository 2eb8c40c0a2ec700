import type { PoolClient } from '@slipway/db/sql';

/** Domains of one conversation and day that are counted apart; no other gets anything under a budget of hosts. */
const MAX_HOSTS = 500;
/** Days for which is kept what was sent. */
const KEPT_DAYS = 7;
/** In the place of a domain: all of them together. */
const ALL = '';

/** Whose bytes: a conversation's, to one registrable domain. */
export interface Spender {
  readonly org: string;
  readonly conversation: string;
  readonly domain: string;
}

/** Bytes of one day; `null`: any number. */
export interface EgressLimits {
  readonly conversation: number | null;
  readonly host: number | null;
}

export interface Reservation {
  readonly bytes: number;
  readonly over: 'conversation' | 'host' | null;
}

/** The organization's settings; `exists`: it has the conversation, and that is not deleted. */
export async function readSpender(
  client: PoolClient,
  org: string,
  conversation: string | null,
): Promise<{ readonly settings: unknown; readonly exists: boolean } | null> {
  const { rows } = await client.query<{ settings: unknown; exists: boolean }>({
    name: 'egress-spender',
    text: `SELECT o.settings, c.id IS NOT NULL AS exists FROM app.org o
           LEFT JOIN app.conversation c ON c.org_id = o.id AND c.id = $2::uuid AND c.deleted_at IS NULL WHERE o.id = $1`,
    values: [org, conversation],
  });
  return rows[0] ?? null;
}

/** One reservation of a conversation after the other, until the transaction ends. */
export async function lockSpending(client: PoolClient, conversation: string): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`egress-spent ${conversation}`]);
}

/**
 * Gives back what was reserved and not sent. Under the lock. A grant that is not there was settled before: nothing
 * happens.
 */
export async function settleGrants(
  client: PoolClient,
  { org, conversation }: Pick<Spender, 'org' | 'conversation'>,
  settled: ReadonlyArray<{ readonly grant: string; readonly used: number }>,
): Promise<void> {
  if (settled.length === 0) return;
  await client.query({
    name: 'egress-settle',
    text: `WITH used AS (SELECT * FROM unnest($3::text[], $4::bigint[]) AS u(id, used)),
             ended AS (DELETE FROM app.egress_grant g USING used u
               WHERE g.org_id = $1 AND g.conversation_id = $2::uuid AND g.id = u.id
               RETURNING g.day, g.host, greatest(g.bytes - u.used, 0) AS back),
             back AS (SELECT day, h.host, sum(back) AS bytes FROM ended CROSS JOIN LATERAL (VALUES (ended.host), ('')) h(host) GROUP BY day, h.host)
           UPDATE app.egress_spent s SET bytes = s.bytes - back.bytes FROM back
           WHERE s.org_id = $1 AND s.conversation_id = $2::uuid AND s.day = back.day AND s.host = back.host`,
    values: [org, conversation, settled.map(({ grant }) => grant), settled.map(({ used }) => used)],
  });
}

/** Reserves at most so many bytes. Under the lock; the same grant again is answered as the first time. */
export async function reserveBytes(
  client: PoolClient,
  { org, conversation, domain }: Spender,
  { grant, bytes, day }: { readonly grant: string; readonly bytes: number; readonly day: string },
  limits: EgressLimits,
): Promise<Reservation> {
  const before = await client.query<{ bytes: string }>(
    'SELECT bytes FROM app.egress_grant WHERE org_id = $1 AND conversation_id = $2::uuid AND id = $3',
    [org, conversation, grant],
  );
  if (before.rows[0] !== undefined) return { bytes: Number(before.rows[0].bytes), over: null };
  const spent = await spentOn(client, { org, conversation, domain }, day);
  if (spent.hosts === 0) await forgetSpent(client, org, conversation, day);
  if (limits.host !== null && spent.host === null && spent.hosts > MAX_HOSTS) return { bytes: 0, over: 'host' };
  const left = {
    conversation: limits.conversation === null ? bytes : limits.conversation - spent.all,
    host: limits.host === null ? bytes : limits.host - (spent.host ?? 0),
  };
  if (left.conversation <= 0) return { bytes: 0, over: 'conversation' };
  if (left.host <= 0) return { bytes: 0, over: 'host' };
  const granted = Math.min(bytes, left.conversation, left.host);
  await client.query({
    name: 'egress-reserve',
    text: `WITH spent AS (INSERT INTO app.egress_spent AS s (org_id, conversation_id, day, host, bytes)
             SELECT $1, $2::uuid, $3::date, h, $6::bigint FROM unnest(ARRAY['', $4]) h
             ON CONFLICT (org_id, conversation_id, day, host) DO UPDATE SET bytes = s.bytes + excluded.bytes)
           INSERT INTO app.egress_grant (org_id, id, conversation_id, day, host, bytes) VALUES ($1, $5, $2::uuid, $3::date, $4, $6)`,
    values: [org, conversation, day, domain, grant, granted],
  });
  return { bytes: granted, over: null };
}

/** Counts bytes as sent that nobody reserved: the budget may be exceeded by them. Under the lock. */
export async function chargeBytes(
  client: PoolClient,
  { org, conversation, domain }: Spender,
  { bytes, day }: { readonly bytes: number; readonly day: string },
): Promise<void> {
  await client.query({
    name: 'egress-charge',
    text: `INSERT INTO app.egress_spent AS s (org_id, conversation_id, day, host, bytes)
           SELECT $1, $2::uuid, $3::date, h, $5::bigint FROM unnest(ARRAY['', $4]) h
           ON CONFLICT (org_id, conversation_id, day, host) DO UPDATE SET bytes = s.bytes + excluded.bytes`,
    values: [org, conversation, day, domain, bytes],
  });
}

/** What a conversation has sent to all hosts, or reserved. Bytes. */
export async function sentOn(client: PoolClient, org: string, conversation: string, day: string): Promise<number> {
  return (await spentOn(client, { org, conversation, domain: ALL }, day)).all;
}

/** `host: null`: nothing was sent to it on this day. `hosts`: rows of the day. */
async function spentOn(
  client: PoolClient,
  { org, conversation, domain }: Spender,
  day: string,
): Promise<{ readonly all: number; readonly host: number | null; readonly hosts: number }> {
  const { rows } = await client.query<{ all: string; host: string | null; hosts: number }>({
    name: 'egress-spent-on',
    text: `SELECT coalesce(sum(bytes) FILTER (WHERE host = $5), 0) AS "all", sum(bytes) FILTER (WHERE host = $4) AS host, count(*)::integer AS hosts
           FROM app.egress_spent WHERE org_id = $1 AND conversation_id = $2::uuid AND day = $3::date`,
    values: [org, conversation, day, domain, ALL],
  });
  const [{ all, host, hosts } = { all: '0', host: null, hosts: 0 }] = rows;
  return { all: Number(all), host: host === null ? null : Number(host), hosts };
}

/** At the first byte of a day. Grants of a proxy that ended without a word go too: they count as sent. */
async function forgetSpent(client: PoolClient, org: string, conversation: string, day: string): Promise<void> {
  for (const table of ['egress_spent', 'egress_grant'])
    await client.query(
      `DELETE FROM app.${table} WHERE org_id = $1 AND conversation_id = $2::uuid AND day < $3::date - $4::integer`,
      [org, conversation, day, KEPT_DAYS],
    );
}
