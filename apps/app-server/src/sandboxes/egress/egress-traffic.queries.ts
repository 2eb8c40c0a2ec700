import {
  EGRESS_TALLY_DAYS,
  EGRESS_TRAFFIC_DAYS,
  type EgressAdmittedBy,
  type EgressRequestList,
  type EgressTopHosts,
  type EgressTraffic,
  LET_THROUGH,
  MAX_TOP_HOSTS,
  MAX_TRAFFIC_ROWS,
} from '@slipway/contracts/sandboxes';
import type { PoolClient } from '@slipway/db/sql';
import { workspaceSentBy } from './egress-bodies.queries.js';

/** A sum as a number of JSON. */
const sum = (column: string): string => `least(coalesce(sum(${column}), 0), ${Number.MAX_SAFE_INTEGER})::float8`;
const reached = `verdict = '${LET_THROUGH}'`;

interface TrafficRow {
  readonly host: string;
  readonly port: number;
  readonly verdict: string;
  readonly rule: string;
  readonly name: string | null;
  readonly connections: number;
  readonly bytes_out: number;
  readonly bytes_in: number;
  readonly first_at: Date;
  readonly last_at: Date;
}

/** The most bytes out first, then the most connections. */
export async function trafficOf(
  client: PoolClient,
  orgId: string,
  conversationId: string,
): Promise<Omit<EgressTraffic, 'bodies' | 'budget'>> {
  const since = [orgId, conversationId, EGRESS_TALLY_DAYS];
  const { rows } = await client.query<TrafficRow>(
    `SELECT t.*, coalesce(r.name, k.name) AS name FROM (
       SELECT host, port, verdict, rule, ${sum('connections')} AS connections, ${sum('bytes_out')} AS bytes_out, ${sum('bytes_in')} AS bytes_in,
         min(first_at) AS first_at, max(last_at) AS last_at
       FROM app.egress_tally WHERE org_id = $1 AND conversation_id = $2 AND hour > now() - make_interval(days => $3)
       GROUP BY host, port, verdict, rule ORDER BY 6 DESC, 5 DESC, host, port, verdict, rule LIMIT ${MAX_TRAFFIC_ROWS}) t
     LEFT JOIN LATERAL (SELECT CASE WHEN below THEN '*.' ELSE '' END || host || coalesce(':' || port, '') AS name
       FROM app.egress_rule WHERE org_id = $1 AND id = t.rule) r ON true
     LEFT JOIN LATERAL (SELECT name FROM app.credential WHERE org_id = $1 AND 'credential:' || id = t.rule) k ON true
     ORDER BY bytes_out DESC, connections DESC, host, port, verdict, rule`,
    since,
  );
  const { rows: totals } = await client.query<Omit<EgressTraffic, 'bodies' | 'budget' | 'data'>>(
    `SELECT (count(*) FILTER (WHERE was_reached))::integer AS hosts, (count(*) FILTER (WHERE NOT was_reached))::integer AS "refusedHosts",
       ${sum('bytes_out')} AS "bytesOut", ${sum('bytes_in')} AS "bytesIn"
     FROM (SELECT bool_or(${reached}) AS was_reached, sum(bytes_out) AS bytes_out, sum(bytes_in) AS bytes_in FROM app.egress_tally
           WHERE org_id = $1 AND conversation_id = $2 AND hour > now() - make_interval(days => $3) GROUP BY host) by_host`,
    since,
  );
  return {
    data: rows.map(({ host, port, verdict, rule, name, connections, bytes_out, bytes_in, first_at, last_at }) => ({
      host,
      port,
      admittedBy: verdict === LET_THROUGH ? admittedBy(rule, name) : null,
      refused: verdict === LET_THROUGH ? null : verdict,
      connections,
      bytesOut: bytes_out,
      bytesIn: bytes_in,
      firstAt: first_at.toISOString(),
      lastAt: last_at.toISOString(),
    })),
    ...(totals[0] ?? { hosts: 0, refusedHosts: 0, bytesOut: 0, bytesIn: 0 }),
  };
}

/** What a conversation has sent, and to how many hosts. */
export async function sentBy(
  client: PoolClient,
  orgId: string,
  conversationId: string,
): Promise<EgressRequestList['sent']> {
  const { rows } = await client.query<Omit<EgressRequestList['sent'], 'workspaceBytes'>>(
    `SELECT ${sum('bytes_out')} AS "bytesOut", count(DISTINCT host)::integer AS hosts FROM app.egress_tally
     WHERE org_id = $1 AND conversation_id = $2 AND ${reached} AND hour > now() - make_interval(days => $3)`,
    [orgId, conversationId, EGRESS_TALLY_DAYS],
  );
  const workspaceBytes = await workspaceSentBy(client, orgId, conversationId);
  return { ...(rows[0] ?? { bytesOut: 0, hosts: 0 }), workspaceBytes };
}

/** Of conversations that are not deleted, in the last 30 days. */
export async function topHosts(client: PoolClient, orgId: string): Promise<EgressTopHosts> {
  const { rows } = await client.query<{
    host: string;
    port: number;
    conversations: number;
    connections: number;
    refused: number;
    bytes_out: number;
    bytes_in: number;
    last_at: Date;
    hosts: number;
    all_out: number;
    all_in: number;
  }>(
    `SELECT *, (count(*) OVER ())::integer AS hosts, least(sum(bytes_out) OVER (), ${Number.MAX_SAFE_INTEGER}) AS all_out, least(sum(bytes_in) OVER (), ${Number.MAX_SAFE_INTEGER}) AS all_in FROM (
       SELECT t.host, t.port, count(DISTINCT t.conversation_id)::integer AS conversations,
         least(coalesce(sum(t.connections) FILTER (WHERE ${reached}), 0), ${Number.MAX_SAFE_INTEGER})::float8 AS connections,
         least(coalesce(sum(t.connections) FILTER (WHERE NOT ${reached}), 0), ${Number.MAX_SAFE_INTEGER})::float8 AS refused,
         ${sum('t.bytes_out')} AS bytes_out, ${sum('t.bytes_in')} AS bytes_in, max(t.last_at) AS last_at
       FROM app.egress_tally t JOIN app.conversation c ON c.org_id = $1 AND c.id = t.conversation_id
       WHERE t.org_id = $1 AND t.hour > now() - make_interval(days => $2) GROUP BY t.host, t.port) by_host
     ORDER BY bytes_out DESC, connections DESC, refused DESC, host, port LIMIT ${MAX_TOP_HOSTS}`,
    [orgId, EGRESS_TRAFFIC_DAYS],
  );
  return {
    data: rows.map(({ bytes_out, bytes_in, last_at, hosts: _hosts, all_out: _out, all_in: _in, ...row }) => ({
      ...row,
      bytesOut: bytes_out,
      bytesIn: bytes_in,
      lastAt: last_at.toISOString(),
    })),
    hosts: rows[0]?.hosts ?? 0,
    bytesOut: rows[0]?.all_out ?? 0,
    bytesIn: rows[0]?.all_in ?? 0,
  };
}

/** By the word that a decision has in the place of a rule. */
function admittedBy(rule: string, name: string | null): EgressAdmittedBy {
  if (rule === '') return { kind: 'list', id: null, name: null };
  if (rule === 'observed') return { kind: 'observed', id: null, name: null };
  const [, credential] = /^credential:(.+)$/.exec(rule) ?? [];
  return credential === undefined ? { kind: 'rule', id: rule, name } : { kind: 'credential', id: credential, name };
}
