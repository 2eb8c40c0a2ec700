import {
  EGRESS_TALLY_DAYS,
  type EgressBodies,
  type EgressBodyBatch,
  MAX_BODY_HOSTS,
  MAX_CONVERSATION_BODY_ROWS,
} from '@slipway/contracts/sandboxes';
import type { PoolClient } from '@slipway/db/sql';

/** Largest count that is kept, so that every answer holds it as a number. */
const MOST = Number.MAX_SAFE_INTEGER;
const HOUR_SECONDS = 3_600;
/** Folders and content types of a host that are named. */
const NAMED = 3;
/** Rows of a conversation in an hour, of all brokers together. */
const MAX_ROWS = 4 * MAX_CONVERSATION_BODY_ROWS;
/** What no screen shows as it is: control characters, and those that turn the direction of a text. */
const UNSHOWN = /[\p{C}\p{Zl}\p{Zp}]/gu;

/**
 * Counts a batch, once, as `countTallies` does.
 * @returns text of the workspace by conversation and host, where the batch was counted now.
 */
export async function countBodies(
  client: PoolClient,
  orgId: string,
  { source, seq, rows }: EgressBodyBatch,
): Promise<ReadonlyArray<{ readonly conversation: string; readonly host: string; readonly bytes: number }>> {
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`egress-body ${orgId}`]);
  const { rows: counted } = await client.query<{ conversation: string; host: string; bytes: number }>({
    name: 'egress-body',
    text: `WITH counted AS (
             INSERT INTO app.egress_tally_source AS s (org_id, source, seq) SELECT id, $2, $3 FROM app.org WHERE id = $1
             ON CONFLICT (org_id, source) DO UPDATE SET seq = excluded.seq, at = now() WHERE s.seq < excluded.seq RETURNING 1
           ), old AS (
             DELETE FROM app.egress_body WHERE org_id = $1 AND hour < now() - make_interval(days => $14)
           ), given AS (
             SELECT g.conversation, to_timestamp(g.hour * ${HOUR_SECONDS}) AS hour, g.host, g.port, g.type, g.folder, g.requests, g.bytes, g.workspace_bytes, g.unread_bytes
             FROM unnest($4::uuid[], $5::bigint[], $6::text[], $7::integer[], $8::text[], $9::text[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[])
               AS g(conversation, hour, host, port, type, folder, requests, bytes, workspace_bytes, unread_bytes)
             JOIN app.conversation c ON c.org_id = $1 AND c.id = g.conversation
             WHERE to_timestamp(g.hour * ${HOUR_SECONDS}) BETWEEN now() - make_interval(days => $14) AND now() + interval '1 hour'
               AND (SELECT count(*) FROM app.egress_body b WHERE b.org_id = $1 AND b.conversation_id = g.conversation AND b.hour = to_timestamp(g.hour * ${HOUR_SECONDS})) < ${MAX_ROWS}
             FOR KEY SHARE OF c
           ), added AS (
             INSERT INTO app.egress_body AS b (org_id, conversation_id, hour, host, port, type, folder, requests, bytes, workspace_bytes, unread_bytes)
             SELECT $1, conversation, hour, host, port, type, folder, least(sum(requests), ${MOST})::bigint, least(sum(bytes), ${MOST})::bigint,
               least(sum(workspace_bytes), ${MOST})::bigint, least(sum(unread_bytes), ${MOST})::bigint
             FROM given WHERE EXISTS (SELECT 1 FROM counted) GROUP BY conversation, hour, host, port, type, folder
             ON CONFLICT (org_id, conversation_id, hour, host, port, type, folder) DO UPDATE SET
               requests = least(b.requests + excluded.requests, ${MOST}), bytes = least(b.bytes + excluded.bytes, ${MOST}),
               workspace_bytes = least(b.workspace_bytes + excluded.workspace_bytes, ${MOST}), unread_bytes = least(b.unread_bytes + excluded.unread_bytes, ${MOST})
             RETURNING 1
           )
           SELECT conversation, host, least(sum(workspace_bytes), ${MOST})::float8 AS bytes
           FROM given WHERE folder = '' AND EXISTS (SELECT 1 FROM counted) AND EXISTS (SELECT 1 FROM added)
           GROUP BY conversation, host HAVING sum(workspace_bytes) > 0`,
    values: [
      orgId,
      source,
      seq,
      rows.map(({ conversation }) => conversation),
      rows.map(({ hour }) => hour),
      rows.map(({ host }) => host),
      rows.map(({ port }) => port),
      rows.map(({ type }) => type),
      rows.map(({ folder }) => folder.replaceAll(UNSHOWN, '?')),
      rows.map(({ requests }) => requests),
      rows.map(({ bytes }) => bytes),
      rows.map(({ workspaceBytes }) => workspaceBytes),
      rows.map(({ unreadBytes }) => unreadBytes),
      EGRESS_TALLY_DAYS,
    ],
  });
  return counted;
}

interface BodyRow {
  readonly host: string;
  readonly port: number;
  readonly type: string;
  readonly folder: string;
  readonly requests: number;
  readonly bytes: number;
  readonly workspace_bytes: number;
  readonly unread_bytes: number;
}

/** What bodies to each opened host held; those with the most text of the workspace first. */
export async function bodiesOf(client: PoolClient, orgId: string, conversationId: string): Promise<EgressBodies[]> {
  const sum = (column: string): string => `least(sum(${column}), ${MOST})::float8 AS ${column}`;
  const { rows } = await client.query<BodyRow>(
    `SELECT host, port, type, folder, ${sum('requests')}, ${sum('bytes')}, ${sum('workspace_bytes')}, ${sum('unread_bytes')}
     FROM app.egress_body WHERE org_id = $1 AND conversation_id = $2 AND hour > now() - make_interval(days => $3)
     GROUP BY host, port, type, folder ORDER BY host, port, 5 DESC LIMIT 20000`,
    [orgId, conversationId, EGRESS_TALLY_DAYS],
  );
  const hosts = new Map<string, BodyRow[]>();
  for (const row of rows) {
    const key = `${row.host} ${row.port}`;
    const known = hosts.get(key);
    if (known === undefined) hosts.set(key, [row]);
    else known.push(row);
  }
  return [...hosts.values()]
    .map(bodiesOfHost)
    .sort((a, b) => b.workspaceBytes - a.workspaceBytes || b.bytes - a.bytes)
    .slice(0, MAX_BODY_HOSTS);
}

function bodiesOfHost(rows: readonly BodyRow[]): EgressBodies {
  const whole = rows.filter(({ folder }) => folder === '');
  const added = (of: readonly BodyRow[], column: 'requests' | 'bytes' | 'workspace_bytes' | 'unread_bytes'): number =>
    Math.min(
      of.reduce((sum, row) => sum + row[column], 0),
      MOST,
    );
  const { host, port } = rows[0] as BodyRow;
  const parts = rows.filter(({ folder }) => folder !== '');
  return {
    host,
    port,
    requests: added(whole, 'requests'),
    bytes: added(whole, 'bytes'),
    workspaceBytes: added(whole, 'workspace_bytes'),
    unreadBytes: added(whole, 'unread_bytes'),
    folders: most(parts.map(({ folder, workspace_bytes }) => [folder, workspace_bytes])).map(([folder, bytes]) => ({
      folder,
      bytes,
    })),
    types: most(whole.map(({ type, bytes }) => [type, bytes])).map(([type, bytes]) => ({ type, bytes })),
  };
}

function most(of: ReadonlyArray<readonly [string, number]>): Array<readonly [string, number]> {
  const sums = new Map<string, number>();
  for (const [name, bytes] of of) sums.set(name, (sums.get(name) ?? 0) + bytes);
  return [...sums].sort(([, a], [, b]) => b - a).slice(0, NAMED);
}

/** Text of the workspace that a conversation has sent to opened hosts. Bytes. */
export async function workspaceSentBy(client: PoolClient, orgId: string, conversationId: string): Promise<number> {
  const { rows } = await client.query<{ bytes: number }>(
    `SELECT least(coalesce(sum(workspace_bytes), 0), ${MOST})::float8 AS bytes FROM app.egress_body
     WHERE org_id = $1 AND conversation_id = $2 AND folder = '' AND hour > now() - make_interval(days => $3)`,
    [orgId, conversationId, EGRESS_TALLY_DAYS],
  );
  return rows[0]?.bytes ?? 0;
}
