import { setTimeout as wait } from 'node:timers/promises';
import { slotsToCreate } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { readActivation, type SandboxProblem } from '@slipway/sandbox';
import { beginSlots, doomSlot, markReady, type PoolCounts, planSlots, type Slot } from './pool.queries.js';
import type { PoolContext, PoolSpec } from './pool-context.js';
import { within } from './time-limit.js';

const PROBE_TIMEOUT_MS = 2_000;
/** Shortest and longest time between two polls of a starting sandbox. Milliseconds. */
const FIRST_LOOK_MS = 25;
const LAST_LOOK_MS = 250;
/** Most intents written at once; the next tick writes more. */
const PLAN_AT_ONCE = 50;

/**
 * What says that the place will not have this sandbox now, and nothing against the sandbox: it is held and tried again,
 * not replaced. Whatever else a backend says means that this sandbox will never come up.
 */
const HOLDS: ReadonlySet<SlipwayError['code']> = new Set<SlipwayError['code']>([
  'sandbox.unschedulable',
  'sandbox.image-unavailable',
  'sandbox.no-capacity',
  'sandbox.refused',
  'sandbox.forbidden',
  'sandbox.unknown-template',
  'sandbox.cluster-unavailable',
  'sandbox.unreachable',
]);

/**
 * - `held`: something outside of the sandbox is in the way. `created`: the sandbox exists and waits; otherwise it could
 * not be made.
 * - `failed`: it was doomed, with the reason in its row.
 * - `left`: the signal ended it, or the slot was changed meanwhile: the next leader goes on.
 */
export type Provisioned =
  | { readonly result: 'ready' | 'left' }
  | { readonly result: 'held'; readonly problem: SandboxProblem; readonly created: boolean }
  | { readonly result: 'failed'; readonly problem: SandboxProblem };

/**
 * Writes the missing intents of the pool, at most `room`, before anything is made. `counts` is counted again under the
 * pool's lock. @returns how many.
 */
export async function planPool(
  context: PoolContext,
  pool: PoolSpec,
  counts: PoolCounts,
  room = PLAN_AT_ONCE,
): Promise<number> {
  const { db, ids } = context;
  const missing = Math.min(slotsToCreate(counts.target, counts.blank), room, PLAN_AT_ONCE);
  if (missing <= 0) return 0;
  // Base32 in lower case without the prefix: it becomes part of host names and of folders.
  const fresh = Array.from({ length: missing }, () => ids.prefixed('sbx').slice('sbx_'.length));
  const planned = await planSlots(db, pool.poolId, fresh);
  await context.failpoints('pool.planned');
  return planned;
}

/**
 * Slots that may be brought to ready now: the intents among them become provisioning first, and drop out when they were
 * changed meanwhile.
 */
export async function beginCreation(context: PoolContext, slots: readonly Slot[]): Promise<Slot[]> {
  const intents = slots.filter((slot) => slot.state === 'intent');
  const begun = intents.length === 0 ? new Set<string>() : await beginSlots(context.db, intents);
  return slots.filter((slot) => slot.state === 'provisioning' || begun.has(slot.slotId));
}

/** Brings a slot whose creation has begun (perhaps by a leader that is dead) to ready. Repeatable. */
export async function provisionSlot(
  context: PoolContext,
  pool: PoolSpec,
  slot: Slot,
  signal: AbortSignal,
): Promise<Provisioned> {
  const { db, failpoints, logger } = context;
  try {
    const { uid, address } = await bringUp(context, pool, slot, signal);
    await failpoints('pool.probed');
    const ready = await markReady(db, slot, uid, address);
    await failpoints('pool.ready');
    return { result: ready ? 'ready' : 'left' };
  } catch (error) {
    if (signal.aborted) return { result: 'left' };
    if (error instanceof Held) return { result: 'held', problem: error.problem, created: error.created };
    const detail = error instanceof SlipwayError ? error.detail : 'the sandbox did not become ready in time';
    // Not doomed: another leader has brought it further.
    if (!(await doomSlot(db, slot.slotId, detail, ['intent', 'provisioning']))) return { result: 'left' };
    logger.warn({ slot_id: slot.slotId, pool_id: pool.poolId, err: error }, `sandbox failed to start: ${detail}`);
    return { result: 'failed', problem: { code: 'sandbox.start-failed', detail } };
  }
}

/** Nothing is wrong with the sandbox itself. */
class Held extends Error {
  constructor(
    readonly problem: SandboxProblem,
    readonly created: boolean,
  ) {
    super(problem.detail);
  }
}

async function bringUp(
  context: PoolContext,
  pool: PoolSpec,
  slot: Slot,
  signal: AbortSignal,
): Promise<{ uid: string; address: string }> {
  const { backend, failpoints, pace } = context;
  await failpoints('pool.creating');
  const spec = { name: slot.podName, slotId: slot.slotId, image: pool.image, size: pool.size };
  // Also for one that exists: whoever began it may have died in the middle.
  await heldIfOutside(false, () => within(pace.startTimeoutMs, signal, (limit) => backend.ensure(spec, limit)));
  await failpoints('pool.created');
  const sandbox = await waitUntilRunning(context, slot.podName, signal);
  await within(pace.dormantTimeoutMs, signal, (limit) => waitUntilDormant(slot, sandbox.address, limit));
  return sandbox;
}

async function heldIfOutside<T>(created: boolean, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof SlipwayError) || !HOLDS.has(error.code)) throw error;
    throw new Held({ code: error.code as SandboxProblem['code'], detail: error.detail }, created);
  }
}

/**
 * @throws Held when something is in the way of it, SlipwayError when it will never run or was given `avoid` at its
 * birth.
 */
async function waitUntilRunning(
  context: PoolContext,
  name: string,
  signal: AbortSignal,
): Promise<{ uid: string; address: string }> {
  const began = performance.now();
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(LAST_LOOK_MS, pause * 1.2)) {
    const seen = await heldIfOutside(true, () => context.backend.observe(name, signal));
    if (seen.state === 'running' && seen.avoid === undefined) return seen;
    if (seen.state === 'running')
      throw new SlipwayError('sandbox.start-failed', `the sandbox is not given out: ${seen.avoid}`);
    if (seen.state === 'ended') throw new SlipwayError('sandbox.start-failed', seen.reason);
    if (seen.state === 'gone')
      throw new SlipwayError('sandbox.start-failed', 'the sandbox was removed while it started');
    if (seen.problem !== undefined) throw new Held(seen.problem, true);
    if (performance.now() - began > context.pace.startTimeoutMs)
      throw new SlipwayError('sandbox.start-failed', `it did not run in time: ${seen.message}`);
    await wait(pause, undefined, { signal });
  }
}

/**
 * Resolves when agent-server answers as this slot's and unclaimed. @throws SlipwayError when it is claimed or
 * unhealthy.
 */
async function waitUntilDormant(slot: Slot, address: string, signal: AbortSignal): Promise<void> {
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(LAST_LOOK_MS, pause * 1.2)) {
    const health = await sandboxHealth(slot, address, signal);
    if (health === 'dormant') return;
    if (health === 'not-ours') throw new SlipwayError('sandbox.start-failed', 'the sandbox is not blank');
    if (health === 'unwell') throw new SlipwayError('sandbox.start-failed', 'the sandbox says that it is not well');
    await wait(pause, undefined, { signal });
  }
}

/**
 * `silent`: no proper answer within 2 s. `not-ours`: it has been activated, or is another slot's. `unwell`:
 * agent-server says that its tools do not work.
 */
export async function sandboxHealth(
  slot: { slotId: string },
  address: string,
  signal: AbortSignal,
): Promise<'dormant' | 'not-ours' | 'unwell' | 'silent'> {
  const state = await readActivation(address, signal, PROBE_TIMEOUT_MS);
  if (state === null) return 'silent';
  if (state.state !== 'dormant' || state.claim_id !== null || state.slot_id !== slot.slotId) return 'not-ours';
  return state.healthy ? 'dormant' : 'unwell';
}
