import { randomUUID } from 'node:crypto';
import type { LoggedPrompt, PromptPage, PromptPolicies } from '@slipway/contracts/models';
import { asSystem, type Columns, inOrg, type SqlPool } from '@slipway/db/sql';

/** Of a page: half a megabyte each at most. */
const PAGE = 20;
/** Entries of one sweep: a fraction of a second. */
const SWEPT = 1_000;

/** Days that prompts are kept, by organization; those that are not in it keep none. */
export function readPolicies(pool: SqlPool): Promise<ReadonlyMap<string, number>> {
  return asSystem(pool, 'slipway_gateway_system', 'whose prompts are kept', async (client) => {
    const { rows } = await client.query<Columns<'gateway.prompt_policy', 'org_id' | 'days'>>(
      'SELECT org_id, days FROM gateway.prompt_policy',
    );
    return new Map(rows.map(({ org_id, days }) => [org_id, days]));
  });
}

/** One commit; repeating it changes nothing. What those that are not in it had kept is gone with it. */
export function replacePolicies(pool: SqlPool, policies: PromptPolicies['policies']): Promise<void> {
  return asSystem(pool, 'slipway_gateway_system', 'whose prompts are kept', async (client) => {
    const orgs = policies.map(({ org }) => org);
    await client.query(
      `INSERT INTO gateway.prompt_policy AS p (org_id, days) SELECT * FROM unnest($1::text[], $2::int[]) ON CONFLICT (org_id) DO UPDATE SET days = excluded.days
         WHERE p.days <> excluded.days`,
      [orgs, policies.map(({ days }) => days)],
    );
    const { rows } = await client.query<Columns<'gateway.prompt_policy', 'org_id'>>(
      'DELETE FROM gateway.prompt_policy WHERE NOT (org_id = ANY ($1)) RETURNING org_id',
      [orgs],
    );
    if (rows.length > 0)
      await client.query('DELETE FROM gateway.prompt_entry WHERE org_id = ANY ($1)', [
        rows.map(({ org_id }) => org_id),
      ]);
  });
}

/** Stores nothing when the organization has ceased to want it by then. */
export function insertPrompt(pool: SqlPool, orgId: string, entry: Omit<LoggedPrompt, 'id'>): Promise<void> {
  return inOrg(pool, orgId, async (client) => {
    await client.query(
      `INSERT INTO gateway.prompt_entry (id, org_id, conversation_id, user_id, request_id, model, outcome, at, asked, answered)
       SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 FROM gateway.prompt_policy WHERE org_id = $2 FOR KEY SHARE`,
      [
        randomUUID(),
        orgId,
        entry.conversationId,
        entry.userId,
        entry.requestId,
        entry.model,
        entry.outcome,
        entry.at,
        entry.asked,
        entry.answered,
      ],
    );
  });
}

/**
 * Deletes what is too old, or is of an organization that keeps nothing. @returns how many were deleted; as many as can
 * be at once: there may be more.
 */
export function sweepPrompts(pool: SqlPool, now: Date): Promise<{ deleted: number; more: boolean }> {
  return asSystem(pool, 'slipway_gateway_system', 'prompts are kept for so many days', async (client) => {
    const { rowCount } = await client.query(
      `DELETE FROM gateway.prompt_entry WHERE id IN (
         SELECT e.id FROM gateway.prompt_entry e LEFT JOIN gateway.prompt_policy p ON p.org_id = e.org_id
         WHERE p.days IS NULL OR e.at < $1::timestamptz - make_interval(days => p.days) LIMIT $2)`,
      [now, SWEPT],
    );
    return { deleted: rowCount ?? 0, more: rowCount === SWEPT };
  });
}

export interface PromptRange {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly conversation?: string | undefined;
  /** `next` of the page before. */
  readonly after?: string | undefined;
}

export function readPrompts(
  pool: SqlPool,
  orgId: string,
  { from, to, conversation, after }: PromptRange,
): Promise<PromptPage> {
  return inOrg(pool, orgId, async (client) => {
    const [afterAt, afterId] =
      after === undefined ? [null, null] : [after.slice(0, after.indexOf('/')), after.slice(after.indexOf('/') + 1)];
    const { rows } = await client.query<
      Columns<
        'gateway.prompt_entry',
        'id' | 'at' | 'conversation_id' | 'user_id' | 'request_id' | 'model' | 'outcome' | 'asked' | 'answered'
      >
    >(
      `SELECT id, at, conversation_id, user_id, request_id, model, outcome, asked, answered FROM gateway.prompt_entry
       WHERE org_id = $1 AND ($2::timestamptz IS NULL OR at >= $2) AND ($3::timestamptz IS NULL OR at < $3) AND ($4::uuid IS NULL OR conversation_id = $4)
         AND ($5::timestamptz IS NULL OR (at, id) > ($5, $6::uuid)) ORDER BY at, id LIMIT $7`,
      [orgId, from ?? null, to ?? null, conversation ?? null, afterAt, afterId, PAGE],
    );
    const last = rows.at(-1);
    return {
      data: rows.map((row) => ({
        id: row.id,
        at: row.at.toISOString(),
        conversationId: row.conversation_id,
        userId: row.user_id,
        requestId: row.request_id,
        model: row.model,
        outcome: row.outcome,
        asked: row.asked,
        answered: row.answered,
      })),
      next: last === undefined || rows.length < PAGE ? null : `${last.at.toISOString()}/${last.id}`,
    };
  });
}
