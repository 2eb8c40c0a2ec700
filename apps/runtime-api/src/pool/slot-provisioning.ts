import { setTimeout as wait } from 'node:timers/promises';
import { slotsToCreate } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { readActivation } from '@slipway/sandbox';
import { beginSlots, doomSlot, markReady, planSlots, type Slot } from './pool.queries.js';
import type { PoolContext, PoolSpec } from './pool-context.js';

/** Longest from intent to ready. Milliseconds; the slot is then doomed and another one planned. */
const PROVISION_TIMEOUT_MS = 30_000;
const PROBE_TIMEOUT_MS = 2_000;
/** Most intents written at once; the next tick writes more. */
const PLAN_AT_ONCE = 50;

/** Writes the intents that the pool lacks, before anything is made. `blank`: how many blank sandboxes there are; counted again under the pool's lock. @returns how many. */
export async function planPool(context: PoolContext, pool: PoolSpec, blank: number): Promise<number> {
  const { db, ids } = context;
  const missing = slotsToCreate(pool.target, blank);
  if (missing === 0) return 0;
  // Base32 in lower case without the prefix: it becomes part of host names and of folders.
  const fresh = Array.from({ length: Math.min(missing, PLAN_AT_ONCE) }, () => ids.prefixed('sbx').slice('sbx_'.length));
  const planned = await planSlots(db, pool.poolId, fresh);
  await context.failpoints('pool.planned');
  return planned;
}

/** Slots that may be brought to ready now: the intents among them become provisioning first, and drop out when somebody has changed them. */
export async function beginCreation(context: PoolContext, slots: readonly Slot[]): Promise<Slot[]> {
  const intents = slots.filter((slot) => slot.state === 'intent');
  const begun = intents.length === 0 ? new Set<string>() : await beginSlots(context.db, intents);
  return slots.filter((slot) => slot.state === 'provisioning' || begun.has(slot.slotId));
}

/**
 * Brings a slot whose creation has begun (perhaps by a leader that is dead) to ready. Repeatable.
 *
 * @returns `ready`; `failed` when it was doomed, with the reason in its row; `left` when `signal` ended it or somebody else changed the slot: the next leader goes on.
 */
export async function provisionSlot(context: PoolContext, pool: PoolSpec, slot: Slot, signal: AbortSignal): Promise<'ready' | 'failed' | 'left'> {
  const { db, backend, failpoints, logger } = context;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(PROVISION_TIMEOUT_MS)]);
  try {
    await failpoints('pool.creating');
    await backend.ensure({ name: slot.podName, slotId: slot.slotId, image: pool.image, size: pool.size }, limit);
    await failpoints('pool.created');
    const sandbox = await waitUntilRunning(context, slot.podName, limit);
    await waitUntilDormant(slot, sandbox.address, limit);
    await failpoints('pool.probed');
    const ready = await markReady(db, slot, sandbox.uid, sandbox.address);
    await failpoints('pool.ready');
    return ready ? 'ready' : 'left';
  } catch (error) {
    if (signal.aborted) return 'left';
    const reason = error instanceof SlipwayError ? error.detail : 'the sandbox did not become ready in time';
    // Not doomed: another leader has brought it further.
    if (!(await doomSlot(db, slot.slotId, reason, ['intent', 'provisioning']))) return 'left';
    logger.warn({ slot_id: slot.slotId, err: error }, `a sandbox did not start: ${reason}`);
    return 'failed';
  }
}

async function waitUntilRunning(context: PoolContext, name: string, signal: AbortSignal): Promise<{ uid: string; address: string }> {
  while (true) {
    const observation = await context.backend.observe(name, signal);
    if (observation.state === 'running') return observation;
    if (observation.state === 'ended') throw new SlipwayError('sandbox.start-failed', observation.reason);
    if (observation.state === 'gone') throw new SlipwayError('sandbox.start-failed', 'the sandbox was removed while it started');
    await wait(25, undefined, { signal });
  }
}

/** Answers when agent-server says that it is this slot's and nobody's. @throws SlipwayError when it is somebody's. */
async function waitUntilDormant(slot: Slot, address: string, signal: AbortSignal): Promise<void> {
  while (true) {
    const health = await sandboxHealth(slot, address, signal);
    if (health === 'dormant') return;
    if (health === 'not-ours') throw new SlipwayError('sandbox.start-failed', 'the sandbox is not blank');
    await wait(25, undefined, { signal });
  }
}

/** `silent`: no proper answer within 2 s. `not-ours`: it has been activated, or is another slot's. */
export async function sandboxHealth(slot: { slotId: string }, address: string, signal: AbortSignal): Promise<'dormant' | 'not-ours' | 'silent'> {
  const state = await readActivation(address, signal, PROBE_TIMEOUT_MS);
  if (state === null) return 'silent';
  return state.state === 'dormant' && state.claim_id === null && state.slot_id === slot.slotId ? 'dormant' : 'not-ours';
}
