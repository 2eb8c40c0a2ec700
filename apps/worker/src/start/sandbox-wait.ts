import type { ErrorCode } from '@slipway/contracts';
import type { SlipwayError } from '@slipway/errors';
import { z } from 'zod';

/** What runtime-api says to a session that waits for its sandbox. */
const Place = z.object({
  /** 1: the next one. */
  position: z.int().positive(),
  estimateSeconds: z.number().nonnegative().nullish(),
  reason: z.string().nullish(),
});

/** Failures that mean: keep waiting, your place is kept. `cluster`: an operator has to do something, so that a wait without end helps nobody. */
const WAITS: Partial<Record<ErrorCode, 'room' | 'cluster'>> = {
  'sandbox.no-capacity': 'room',
  'sandbox.quota': 'room',
  'sandbox.unschedulable': 'cluster',
  'sandbox.image-unavailable': 'cluster',
  'sandbox.cluster-unavailable': 'cluster',
};
/** Longest wait for a cluster that cannot run the sandbox. Milliseconds. */
export const CLUSTER_PATIENCE_MS = 15 * 60_000;

/** What a person reads while the start waits for a sandbox, or `null` when the failure is none to wait for, or was waited for long enough. */
export function waitSentence(failure: SlipwayError, waitedMs: number): string | null {
  const kind = WAITS[failure.code];
  if (kind === undefined || (kind === 'cluster' && waitedMs > CLUSTER_PATIENCE_MS)) return null;
  const place = Place.safeParse(failure.more.extensions);
  if (!place.success) return failure.detail;
  const { position, estimateSeconds, reason } = place.data;
  const ahead = position === 1 ? 'Next in the queue for a sandbox' : `Number ${position} in the queue for a sandbox`;
  const estimate = estimateSeconds === null || estimateSeconds === undefined ? '' : `, ${roughly(estimateSeconds)}`;
  const why = reason ?? (kind === 'cluster' ? failure.detail : null);
  return `${ahead}${estimate}.${why === null ? '' : ` ${why}`}`;
}

/** Coarse on purpose: each new sentence is an event that everybody who watches gets. */
function roughly(seconds: number): string {
  if (seconds <= 10) return 'a few seconds';
  if (seconds <= 45) return 'about half a minute';
  const minutes = Math.ceil(seconds / 60);
  return minutes === 1 ? 'about a minute' : `about ${minutes} minutes`;
}
