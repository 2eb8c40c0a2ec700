import { SlipwayError } from '@slipway/errors';
import { markGone, type Slot, saveUid } from './pool.queries.js';
import type { PoolContext } from './pool-context.js';
import { within } from './time-limit.js';
import { isOwned, mayGiveUp, noteKept, noteUnkept } from './unkept.queries.js';

/**
 * Longest removal of one sandbox. Milliseconds; its workspace may have to be stored first. Tried again at the next
 * tick: a backend shares the removal that is under way.
 */
const REMOVE_TIMEOUT_MS = 10 * 60_000;

interface Removable {
  readonly slotId: string;
  readonly podName: string;
  readonly podUid: string;
}

/**
 * Removes the sandbox of a slot that is doomed or releasing, and only the sandbox with the slot's uid. Repeatable. The
 * workspace stays: the reaper deletes it once no session refers to it. A sandbox whose workspace cannot be kept stays,
 * too, until one of two bounds (`mayGiveUp`).
 * @throws SlipwayError while its workspace cannot be kept; why, and since when, is in the slot's row.
 */
export async function removeSandbox(context: PoolContext, slot: Removable, signal: AbortSignal): Promise<void> {
  const { db, failpoints, logger } = context;
  await failpoints('pool.removing');
  const evenUnkept = await mayGiveUp(db, slot.slotId, context.unkept);
  if (evenUnkept)
    logger.error(
      { slot_id: slot.slotId, sandbox: slot.podName },
      'sandbox removed without its workspace: not saved in time',
    );
  const owned = await isOwned(db, slot.podName);
  try {
    const onKept = (bytes: number | null): Promise<void> => noteKept(db, slot.slotId, bytes);
    await within(REMOVE_TIMEOUT_MS, signal, (limit) =>
      context.backend.remove(slot.podName, slot.podUid, limit, { evenUnkept, owned, onKept }),
    );
  } catch (error) {
    if (error instanceof SlipwayError && isOfStore(error)) await noteUnkept(db, slot.slotId, error.detail);
    throw error;
  }
  await failpoints('pool.removed');
  await markGone(db, slot.slotId);
}

/** Of the store or of the way to it; not that the caller had no time to wait for a save that goes on. */
function isOfStore({ code, cause }: SlipwayError): boolean {
  return code.startsWith('sandbox.archive') || (code === 'sandbox.unreachable' && cause === undefined);
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
