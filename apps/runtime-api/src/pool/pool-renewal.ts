import { slotsToRenew } from '@slipway/domain';
import { agedSlots, countReady, doomSlot, takeDueChecks } from './pool.queries.js';
import type { PoolContext, PoolSpec } from './pool-context.js';
import { sandboxHealth } from './slot-provisioning.js';

/** A warm sandbox is looked at this often. Seconds. */
const CHECK_SECONDS = 60;

/** Dooms slots made from an older template, all at once since they must not be given out; and slots over their age, half of the pool at a time. */
export async function renewPool(context: PoolContext, pool: PoolSpec): Promise<number> {
  const { db } = context;
  const aged = await agedSlots(db, pool.poolId);
  const stale = aged.filter((slot) => slot.stale);
  const old = aged.filter((slot) => !slot.stale);
  const due = [
    ...stale.map((slot) => ({ slot, reason: 'made from an older template' })),
    ...old.slice(0, slotsToRenew(old.length, await countReady(db, pool.poolId))).map((slot) => ({ slot, reason: 'too old' })),
  ];
  for (const { slot, reason } of due) await doomSlot(db, slot.slotId, reason, ['ready']);
  return due.length;
}

/** Looks at warm sandboxes whose turn it is, and dooms those that are not blank and answering. */
export async function checkWarm(context: PoolContext, pool: PoolSpec, signal: AbortSignal): Promise<number> {
  const due = await takeDueChecks(context.db, pool.poolId, CHECK_SECONDS);
  const doomed = await Promise.all(
    due.map(async (slot) => {
      const health = slot.address === null ? 'silent' : await sandboxHealth(slot, slot.address, signal);
      if (health === 'dormant' || signal.aborted) return false;
      return doomSlot(context.db, slot.slotId, health === 'silent' ? 'it does not answer' : 'it is not blank', ['ready']);
    }),
  );
  return doomed.filter(Boolean).length;
}
