import type { StartStep } from '@slipway/contracts/conversations';
import type { ErrorCode } from '@slipway/contracts/errors';
import type { SlipwayError } from '@slipway/errors';
import { z } from 'zod';

/** What runtime-api says to a session that waits for its sandbox. */
const Place = z.object({
  /** 1: the next one. */
  position: z.int().positive(),
  /** How many wait in that queue. */
  queueLength: z.int().positive().nullish(),
  estimateSeconds: z.number().nonnegative().nullish(),
  reason: z.string().nullish(),
});

/**
 * Failures that mean: keep waiting, your place is kept. `cluster`: an operator has to act, so waiting without end is
 * useless.
 */
const WAITS: Partial<Record<ErrorCode, 'room' | 'cluster'>> = {
  'sandbox.no-capacity': 'room',
  'sandbox.quota': 'room',
  'sandbox.unschedulable': 'cluster',
  'sandbox.image-unavailable': 'cluster',
  'sandbox.cluster-unavailable': 'cluster',
};
/** Longest wait for a cluster that cannot run the sandbox. Milliseconds. */
export const CLUSTER_PATIENCE_MS = 15 * 60_000;
/** A pool that is empty fills again within this, if there is room. Milliseconds. */
const REFILL_MS = 15_000;
/** About how long a pause takes until its sandbox counts no more. Seconds. */
const PAUSE_SECONDS = 5;

/** What the running step says while the start waits for a sandbox. */
export interface SandboxWait {
  readonly sentence: string;
  /** Absent when no place is known. */
  readonly queue?: NonNullable<StartStep['queue']>;
}

/**
 * Whether pausing a finished conversation of the same organization would end the wait: at its limit at once, for want
 * of room only when a pool has had its time to refill.
 */
export function wantsRoom(failure: SlipwayError, waitedMs: number): boolean {
  if (failure.code === 'sandbox.quota') return true;
  return (failure.code === 'sandbox.no-capacity' || failure.code === 'sandbox.unschedulable') && waitedMs > REFILL_MS;
}

/**
 * What the start waits for, or `null` when the failure is none to wait for, or was waited for long enough.
 * @param makesRoom a finished conversation of the organization is being paused for those that wait.
 */
export function sandboxWait(failure: SlipwayError, waitedMs: number, makesRoom: boolean): SandboxWait | null {
  const kind = WAITS[failure.code];
  if (kind === undefined || (kind === 'cluster' && waitedMs > CLUSTER_PATIENCE_MS)) return null;
  const room = makesRoom ? ' A finished conversation is being paused to make room.' : '';
  const place = Place.safeParse(failure.more.extensions);
  if (!place.success) return { sentence: `${failure.detail}${room}` };
  const { position, reason } = place.data;
  const length = place.data.queueLength ?? undefined;
  const estimateSeconds = place.data.estimateSeconds ?? (makesRoom ? PAUSE_SECONDS * position : null);
  const of = length === undefined ? '' : ` of ${length}`;
  const ahead =
    position === 1 ? 'Next in the queue for a sandbox' : `Number ${position}${of} in the queue for a sandbox`;
  const estimate = estimateSeconds === null ? '' : `, ${roughly(estimateSeconds)}`;
  const why = reason ?? (kind === 'cluster' ? failure.detail : null);
  const cause = failure.code === 'sandbox.quota' ? 'organization-limit' : kind === 'cluster' ? 'cluster' : 'pool';
  return {
    sentence: `${ahead}${estimate}.${why === null ? '' : ` ${why}`}${room}`,
    queue: { place: position, ...(length !== undefined && { length }), estimateSeconds, cause },
  };
}

/** Coarse on purpose: each new sentence is an event for every viewer. */
function roughly(seconds: number): string {
  if (seconds <= 10) return 'a few seconds';
  if (seconds <= 45) return 'about half a minute';
  const minutes = Math.ceil(seconds / 60);
  return minutes === 1 ? 'about a minute' : `about ${minutes} minutes`;
}
