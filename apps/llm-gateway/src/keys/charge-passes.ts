import { createHash } from 'node:crypto';
import { CHARGE_PASS_CALLS, CHARGE_PASS_SECONDS, type ChargePass } from '@slipway/contracts/models';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import { available } from '../management/master-only.js';
import type { KeyBudget, KeyRate, StoredKey } from './keys.queries.js';

/** Longest header that is parsed. Characters. */
const MAX_PASS = 200;

interface PassRow {
  user_id: string;
  user_label: string;
  stop_reason: string | null;
  stop_until: Date | null;
  budgets: KeyBudget[];
  rates: KeyRate[];
}

/** Repeatable: calls that were made with it stay made. Takes away those of the organization that are over. */
export function putChargePass(
  pool: SqlPool,
  { org, conversation, user, userLabel, sha256 }: ChargePass,
  now: Date,
): Promise<void> {
  return inOrg(pool, org, async (client) => {
    await client.query('DELETE FROM gateway.charge_pass WHERE org_id = $1 AND expires_at < $2', [org, now]);
    await client.query(
      `INSERT INTO gateway.charge_pass (hash, org_id, conversation_id, user_id, user_label, expires_at, calls_left)
       VALUES (decode($1, 'hex'), $2, $3, $4, $5, $6, $7) ON CONFLICT (hash) DO NOTHING`,
      [
        sha256,
        org,
        conversation,
        user,
        userLabel,
        new Date(now.getTime() + CHARGE_PASS_SECONDS * 1000),
        CHARGE_PASS_CALLS,
      ],
    );
  });
}

/**
 * Takes one call of a pass. @returns the key as if it were of who gave the pass: their budgets and limits hold, and no
 * others. @throws SlipwayError `auth.missing`, `budget.exhausted`, `service.unavailable`.
 */
export async function withChargePass(pool: SqlPool, key: StoredKey, pass: string, now: Date): Promise<StoredKey> {
  const row = pass.length > MAX_PASS ? undefined : await available(usePass(pool, key, pass, now));
  if (row === undefined)
    throw new SlipwayError(
      'auth.missing',
      'The pass that says for whom this call counts is not known, of another conversation, used up, or over. Ask again.',
    );
  if (row.stop_reason !== null && row.stop_until !== null && row.stop_until > now)
    throw new SlipwayError('budget.exhausted', row.stop_reason);
  return { ...key, userId: row.user_id, userLabel: row.user_label, stop: null, budgets: row.budgets, rates: row.rates };
}

async function usePass(pool: SqlPool, key: StoredKey, pass: string, now: Date): Promise<PassRow | undefined> {
  const { rows } = await pool.query<PassRow>({
    name: 'use-charge-pass',
    text: 'SELECT * FROM gateway.use_charge_pass($1, $2, $3, $4, $5)',
    values: [createHash('sha256').update(pass).digest(), key.orgId, key.id, key.conversationId, now],
  });
  return rows[0];
}
