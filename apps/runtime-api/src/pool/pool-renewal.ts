import { slotsToRenew } from '@slipway/domain';
import { agedSlots, type BlankState, countReady, doomSlot } from './pool.queries.js';
import type { PoolContext } from './pool-context.js';

/** A replica that has leased one fails to bind it: slots being replaced are not handed out. */
const BLANK: readonly BlankState[] = ['intent', 'provisioning', 'ready'];

/**
 * Dooms slots made from an older template, all at once since they must not be given out; and slots over their age, half
 * of the pool at a time.
 */
export async function renewPool(context: PoolContext, pool: { readonly poolId: string }): Promise<number> {
  const { db } = context;
  const aged = await agedSlots(db, pool.poolId);
  if (aged.length === 0) return 0;
  const stale = aged.filter((slot) => slot.stale);
  const old = aged.filter((slot) => !slot.stale);
  const due = [
    ...stale.map((slot) => ({ slot, reason: 'made from an older template' })),
    ...old
      .slice(0, slotsToRenew(old.length, await countReady(db, pool.poolId)))
      .map((slot) => ({ slot, reason: 'too old' })),
  ];
  for (const { slot, reason } of due) await doomSlot(db, slot.slotId, reason, BLANK);
  return due.length;
}
