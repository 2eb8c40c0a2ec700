import { DEFAULT_ORG_SETTINGS } from '@slipway/contracts/organizations';
import type { PoolClient, SqlPool } from '@slipway/db/sql';
import { system } from '../conversations/conversation.queries.js';

/** Longest that a search through every pack or checkpoint may take. Milliseconds. */
const SEARCH_MS = 60_000;

export interface DueConversation {
  readonly orgId: string;
  readonly conversationId: string;
  /** `checkpointDays` of the organization. */
  readonly days: number;
}

/**
 * Conversations with a checkpoint that may expire; `expire_checkpoints` decides, under their locks. Those in the trash
 * are not among them.
 */
export function dueConversations(pool: SqlPool, limit: number): Promise<DueConversation[]> {
  return search<DueConversation>(
    pool,
    `SELECT DISTINCT k.org_id AS "orgId", k.conversation_id AS "conversationId", d.days
     FROM app.checkpoint k JOIN app.conversation c ON c.id = k.conversation_id JOIN app.org o ON o.id = k.org_id,
       LATERAL (SELECT coalesce((o.settings->>'checkpointDays')::integer, $1) AS days) d
     WHERE k.state = 'durable' AND k.name IS NULL AND k.pinned_by IS NULL
       AND coalesce(k.expires_at, c.updated_at + d.days * interval '1 day') <= now()
       AND EXISTS (SELECT 1 FROM app.checkpoint n WHERE n.conversation_id = k.conversation_id AND n.state = 'durable'
         AND (n.seq, n.durable_at, n.id) > (k.seq, k.durable_at, k.id))
       AND NOT EXISTS (SELECT 1 FROM app.checkpoint f WHERE f.org_id = k.org_id AND f.parent_id = k.id AND f.conversation_id <> k.conversation_id)
     LIMIT $2`,
    [DEFAULT_ORG_SETTINGS.checkpointDays, limit],
  );
}

export interface OrgPacks {
  readonly orgId: string;
  readonly ids: readonly string[];
}

/** Packs that no checkpoint refers to, as far as this look goes; `doom_packs` decides, under their locks. */
export function unreferencedPacks(pool: SqlPool, limit: number): Promise<OrgPacks[]> {
  return search<OrgPacks>(
    pool,
    `SELECT u.org_id AS "orgId", array_agg(u.id) AS ids FROM (
       SELECT p.org_id, p.id FROM app.pack p WHERE p.state = 'live'
         AND NOT EXISTS (SELECT 1 FROM app.checkpoint_pack r WHERE r.org_id = p.org_id AND r.pack_id = p.id) LIMIT $1) u
     GROUP BY u.org_id`,
    [limit],
  );
}

/** Organizations with packs whose objects may be deleted. */
export async function orgsToCollect(pool: SqlPool, graceSeconds: number): Promise<string[]> {
  const rows = await search<{ orgId: string }>(
    pool,
    `SELECT DISTINCT org_id AS "orgId" FROM app.pack
     WHERE state = 'deleting' OR (state = 'doomed' AND (doomed_at <= now() - $1 * interval '1 second' OR wrapped_key IS NULL))`,
    [graceSeconds],
  );
  return rows.map(({ orgId }) => orgId);
}

/** Those of the packs that have no row. */
export async function unknownPacks(pool: SqlPool, orgId: string, ids: readonly string[]): Promise<string[]> {
  const rows = await search<{ id: string }>(
    pool,
    `SELECT i AS id FROM unnest($2::text[]) i WHERE NOT EXISTS (SELECT 1 FROM app.pack p WHERE p.org_id = $1 AND p.id = i)`,
    [orgId, ids],
  );
  return rows.map(({ id }) => id);
}

function search<Row extends object>(pool: SqlPool, text: string, values: readonly unknown[]): Promise<Row[]> {
  return system(pool, 'checkpoint sweep', async (client: PoolClient) => {
    const query = { text, values: [...values], query_timeout: SEARCH_MS };
    return (await client.query<Row & Record<string, unknown>>(query)).rows;
  });
}
