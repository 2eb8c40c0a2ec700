import { inOrg, type SqlPool } from '../sql/index.js';

/** From doomed to deleted; longer than any transfer. Hours. */
export const PACK_GRACE_HOURS = 24;

/** Dooms those of the packs that no checkpoint refers to. @returns how many. */
export function doomPacks(pool: SqlPool, orgId: string, ids: readonly string[]): Promise<number> {
  return number(pool, orgId, 'SELECT app.doom_packs($1, $2) AS value', [ids]);
}

/**
 * Packs whose objects may be deleted, from the moment that this returns: their grace is over and no commit takes them
 * back. Those that were claimed before and not finished are among them.
 */
export function claimPacks(
  pool: SqlPool,
  orgId: string,
  { graceSeconds, limit }: { readonly graceSeconds: number; readonly limit: number },
): Promise<readonly string[]> {
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<{ ids: string[] }>(
      `SELECT app.claim_packs($1, $2 * interval '1 second', $3) AS ids`,
      [orgId, graceSeconds, limit],
    );
    return rows[0]?.ids ?? [];
  });
}

/** Deletes the rows of claimed packs; their objects are gone. @returns how many. */
export function finishPacks(pool: SqlPool, orgId: string, ids: readonly string[]): Promise<number> {
  return number(pool, orgId, 'SELECT app.finish_packs($1, $2) AS value', [ids]);
}

/** @param of at most `limit` checkpoints of the conversation, `days` after its last activity. @returns how many. */
export function expireCheckpoints(
  pool: SqlPool,
  orgId: string,
  of: { readonly conversationId: string; readonly days: number; readonly limit: number },
): Promise<number> {
  return number(pool, orgId, 'SELECT app.expire_checkpoints($1, $2, $3, $4) AS value', [
    of.conversationId,
    of.days,
    of.limit,
  ]);
}

function number(pool: SqlPool, orgId: string, text: string, values: readonly unknown[]): Promise<number> {
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<{ value: number }>(text, [orgId, ...values]);
    return rows[0]?.value ?? 0;
  });
}
