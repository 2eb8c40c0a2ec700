import { nextWatch, windowEnd } from '@slipway/domain/outcomes';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** An open pull request is polled for this long; an older one changes only by a delivery. Milliseconds. */
const OPEN_MS = 365 * DAY_MS;
/** A failed poll is retried for this long; after that its result stays unknown. Milliseconds. */
export const GIVE_UP_MS = 14 * DAY_MS;

export interface Looked {
  readonly state: 'open' | 'closed' | 'merged';
  readonly begunAt: Date;
  readonly mergedAt: Date | null;
  readonly watchedDays: number;
}

/**
 * When its host is asked again; `null`: never by itself. An open one the more seldom the older it is, from every 6
 * hours to once a week.
 */
export function nextLook({ state, begunAt, mergedAt, watchedDays }: Looked, now: Date): Date | null {
  if (state === 'closed') return null;
  if (state === 'merged') return mergedAt === null ? null : nextWatch(mergedAt, watchedDays);
  const age = now.getTime() - begunAt.getTime();
  if (age > OPEN_MS) return null;
  return new Date(now.getTime() + Math.min(Math.max(age / 8, 6 * HOUR_MS), 7 * DAY_MS));
}

/**
 * When a failed poll is retried; `null`: it is given up.
 * @param later the host is away or limits calls, and may have said until when. Without it a user has to act first, and
 * gets more time.
 */
export function repeatedLook(
  looked: Looked,
  attempts: number,
  later: { readonly at: Date | null } | null,
  now: Date,
): Date | null {
  const until =
    looked.mergedAt === null ? looked.begunAt.getTime() + OPEN_MS : windowEnd(looked.mergedAt).getTime() + GIVE_UP_MS;
  if (now.getTime() >= until) return null;
  const [first, longest] = later === null ? [HOUR_MS, DAY_MS] : [5 * MINUTE_MS, 6 * HOUR_MS];
  const wait = Math.min(first * 2 ** Math.min(attempts, 20), longest);
  return new Date(Math.max(now.getTime() + wait, later?.at?.getTime() ?? 0));
}
