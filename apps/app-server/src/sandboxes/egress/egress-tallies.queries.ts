import { EGRESS_TALLY_DAYS, type EgressTallyBatch, MAX_TALLY_HOSTS, OTHER_HOSTS } from '@slipway/contracts/sandboxes';
import type { PoolClient } from '@slipway/db/sql';

/** Largest count that is kept, so that every answer holds it as a number. */
const MOST = Number.MAX_SAFE_INTEGER;
const HOUR_SECONDS = 3_600;

/**
 * Counts a batch, once. Rows of conversations that are not of the organization, or deleted, and of hours that are not
 * kept are left out. Forgets what is too old.
 */
export async function countTallies(
  client: PoolClient,
  orgId: string,
  { source, seq, rows }: EgressTallyBatch,
): Promise<void> {
  // One batch of an organization at a time: the bound of hosts holds, and no two wait for each other.
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`egress-tally ${orgId}`]);
  await client.query({
    name: 'egress-tally',
    text: `WITH counted AS (
             INSERT INTO app.egress_tally_source AS s (org_id, source, seq) SELECT id, $2, $3 FROM app.org WHERE id = $1
             ON CONFLICT (org_id, source) DO UPDATE SET seq = excluded.seq, at = now() WHERE s.seq < excluded.seq RETURNING 1
           ), old_sources AS (
             DELETE FROM app.egress_tally_source WHERE org_id = $1 AND source <> $2 AND at < now() - make_interval(days => $15)
           ), old AS (
             DELETE FROM app.egress_tally WHERE org_id = $1 AND hour < now() - make_interval(days => $15)
           ), given AS (
             SELECT g.conversation, to_timestamp(g.hour * ${HOUR_SECONDS}) AS hour, g.host, g.port, g.verdict, g.rule, g.listed, g.connections, g.bytes_out, g.bytes_in
             FROM unnest($4::uuid[], $5::bigint[], $6::text[], $7::integer[], $8::text[], $9::text[], $10::boolean[], $11::bigint[], $12::bigint[], $13::bigint[])
               AS g(conversation, hour, host, port, verdict, rule, listed, connections, bytes_out, bytes_in)
             JOIN app.conversation c ON c.org_id = $1 AND c.id = g.conversation
             WHERE to_timestamp(g.hour * ${HOUR_SECONDS}) BETWEEN now() - make_interval(days => $15) AND now() + interval '1 hour'
             FOR KEY SHARE OF c
           ), known AS (
             SELECT t.conversation_id AS conversation, t.hour, t.host, t.port FROM app.egress_tally t
             WHERE t.org_id = $1 AND t.port <> 0 AND (t.conversation_id, t.hour) IN (SELECT conversation, hour FROM given)
           ), together AS (
             -- Windows and no join: the planner takes a batch for one row.
             SELECT *, bool_or(is_known) OVER (PARTITION BY conversation, hour, host, port) AS has_row
             FROM (SELECT *, false AS is_known FROM given
                   UNION ALL SELECT conversation, hour, host, port, '', '', false, 0, 0, 0, true FROM known) either
           ), ranked AS (
             SELECT *, dense_rank() OVER (PARTITION BY conversation, hour ORDER BY port = 0, NOT has_row, host, port) AS place FROM together
           ), placed AS (
             SELECT conversation, hour, verdict, rule, listed, connections, bytes_out, bytes_in,
               CASE WHEN port = 0 OR place > $14 THEN '${OTHER_HOSTS}' ELSE host END AS host,
               CASE WHEN place > $14 THEN 0 ELSE port END AS port
             FROM ranked WHERE NOT is_known
           )
           INSERT INTO app.egress_tally AS t (org_id, conversation_id, hour, host, port, verdict, rule, listed, connections, bytes_out, bytes_in, first_at, last_at)
           SELECT $1, conversation, hour, host, port, verdict, rule, listed,
             least(sum(connections), ${MOST})::bigint, least(sum(bytes_out), ${MOST})::bigint, least(sum(bytes_in), ${MOST})::bigint,
             least(now(), hour + interval '1 hour'), least(now(), hour + interval '1 hour')
           FROM placed WHERE EXISTS (SELECT 1 FROM counted)
           GROUP BY conversation, hour, host, port, verdict, rule, listed
           ON CONFLICT (org_id, conversation_id, hour, host, port, verdict, rule, listed) DO UPDATE SET
             connections = least(t.connections + excluded.connections, ${MOST}), bytes_out = least(t.bytes_out + excluded.bytes_out, ${MOST}),
             bytes_in = least(t.bytes_in + excluded.bytes_in, ${MOST}), last_at = greatest(t.last_at, excluded.last_at)`,
    values: [
      orgId,
      source,
      seq,
      rows.map(({ conversation }) => conversation),
      rows.map(({ hour }) => hour),
      rows.map(({ host }) => host),
      rows.map(({ port }) => port),
      rows.map(({ verdict }) => verdict),
      rows.map(({ rule }) => rule),
      rows.map(({ listed }) => listed),
      rows.map(({ connections }) => connections),
      rows.map(({ bytesOut }) => bytesOut),
      rows.map(({ bytesIn }) => bytesIn),
      MAX_TALLY_HOSTS,
      EGRESS_TALLY_DAYS,
    ],
  });
}
