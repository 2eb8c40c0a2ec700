import { markGone, type Slot, saveUid } from './pool.queries.js';
import type { PoolContext } from './pool-context.js';

/** Longest removal of one sandbox. Milliseconds; tried again at the next tick. */
const REMOVE_TIMEOUT_MS = 15_000;

/**
 * Removes the sandbox of a slot that is doomed or releasing, and only the sandbox with the slot's uid. Repeatable.
 * The workspace stays: the reaper deletes it once no session refers to it.
 */
export async function removeSandbox(context: PoolContext, slot: { slotId: string; podName: string; podUid: string }, signal: AbortSignal): Promise<void> {
  await context.failpoints('pool.removing');
  await context.backend.remove(slot.podName, slot.podUid, AbortSignal.any([signal, AbortSignal.timeout(REMOVE_TIMEOUT_MS)]));
  await context.failpoints('pool.removed');
  await markGone(context.db, slot.slotId);
}

/** A doomed slot may have been made without its uid reaching the row; then the backend is asked which sandbox it is. */
export async function removeSlot(context: PoolContext, slot: Slot, signal: AbortSignal): Promise<void> {
  if (slot.podUid !== null) return removeSandbox(context, { ...slot, podUid: slot.podUid }, signal);
  const uid = (await context.backend.list(signal)).find((sandbox) => sandbox.name === slot.podName)?.uid;
  if (uid === undefined) return void (await markGone(context.db, slot.slotId));
  if (await saveUid(context.db, slot.slotId, uid)) await removeSandbox(context, { ...slot, podUid: uid }, signal);
}
