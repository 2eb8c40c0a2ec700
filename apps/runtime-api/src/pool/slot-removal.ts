import { markGone, type Slot, saveUid } from './pool.queries.js';
import type { PoolContext } from './pool-context.js';
import { within } from './time-limit.js';

/** Longest removal of one sandbox. Milliseconds; its workspace may have to be stored first. Tried again at the next tick: a backend shares the removal that is under way. */
const REMOVE_TIMEOUT_MS = 10 * 60_000;

/**
 * Removes the sandbox of a slot that is doomed or releasing, and only the sandbox with the slot's uid. Repeatable.
 * The workspace stays: the reaper deletes it once no session refers to it.
 */
export async function removeSandbox(context: PoolContext, slot: { slotId: string; podName: string; podUid: string }, signal: AbortSignal): Promise<void> {
  await context.failpoints('pool.removing');
  await within(REMOVE_TIMEOUT_MS, signal, (limit) => context.backend.remove(slot.podName, slot.podUid, limit));
  await context.failpoints('pool.removed');
  await markGone(context.db, slot.slotId);
}

/** A doomed slot may have been made without its uid reaching the row; then the backend is asked which sandbox it is. */
export async function removeSlot(context: PoolContext, slot: Slot, signal: AbortSignal): Promise<void> {
  const { backend, db } = context;
  if (slot.podUid !== null) return removeSandbox(context, { ...slot, podUid: slot.podUid }, signal);
  const uid = (await backend.list(signal)).find((sandbox) => sandbox.name === slot.podName)?.uid;
  if (uid !== undefined) {
    if (await saveUid(db, slot.slotId, uid)) await removeSandbox(context, { ...slot, podUid: uid }, signal);
    return;
  }
  // A list may be older than the sandbox: only who is asked by name can say that there is none.
  if ((await backend.observe(slot.podName, signal)).state === 'gone') await markGone(db, slot.slotId);
}
