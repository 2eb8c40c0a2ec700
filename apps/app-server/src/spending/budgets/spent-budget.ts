import type { PoolClient } from '@slipway/db/sql';
import { budgetReason } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { stopOf } from './budgets.queries.js';

/**
 * Refuses work without a budget. Goes by what was counted until a few seconds ago (`apps/worker/src/sweeps/usage`);
 * what is counted later is refused by the gateway.
 * @param spender whose spending it would be: the author of the message.
 * @throws SlipwayError `budget.exhausted` that says whose budget it is and when it begins again
 */
export async function assertBudget(client: PoolClient, orgId: string, spender: string, now: Date): Promise<void> {
  const stop = await stopOf(client, orgId, spender, now);
  if (stop !== null) throw new SlipwayError('budget.exhausted', budgetReason(stop));
}
