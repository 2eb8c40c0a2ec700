import type { ListedCommit } from './reverts.js';

/**
 * After a merge its branch is read once so many days later; what comes after the last of them counts as no edit. Days.
 */
export const WATCH_DAYS = [1, 7, 14] as const;
/** How long after the merge a revert or an edit counts. Days. */
export const WINDOW_DAYS = 14;
const DAY_MS = 86_400_000;

/**
 * When the branch is to be read next. @param watchedDays up to which day of the window it was read. `null`: the window
 * has been read whole.
 */
export function nextWatch(mergedAt: Date, watchedDays: number): Date | null {
  const day = WATCH_DAYS.find((each) => each > watchedDays);
  return day === undefined ? null : new Date(mergedAt.getTime() + day * DAY_MS);
}

/** The last day of the window that is over at `now`, of those at which the branch is read; 0: none. */
export function watchedDaysAt(mergedAt: Date, now: Date): number {
  return WATCH_DAYS.findLast((day) => mergedAt.getTime() + day * DAY_MS <= now.getTime()) ?? 0;
}

export function windowEnd(mergedAt: Date): Date {
  return new Date(mergedAt.getTime() + WINDOW_DAYS * DAY_MS);
}

/**
 * The first commit in the window that is neither the pull request's own nor part of its reverts. @param commits that
 * touch one of its files.
 */
export function firstEdit(
  commits: readonly ListedCommit[],
  {
    mergedAt,
    own,
    reverts,
  }: { readonly mergedAt: Date; readonly own: ReadonlySet<string>; readonly reverts: ReadonlySet<string> },
): ListedCommit | null {
  const [from, to] = [mergedAt.getTime(), windowEnd(mergedAt).getTime()];
  const edits = commits.filter(
    ({ sha, at }) => at.getTime() > from && at.getTime() <= to && !own.has(sha) && !reverts.has(sha),
  );
  return edits.toSorted((one, other) => one.at.getTime() - other.at.getTime())[0] ?? null;
}

export interface BranchCommit {
  readonly sha: string;
  /** It brings another branch in and changes nothing of its own. */
  readonly isMerge: boolean;
  readonly byBot: boolean;
}

/**
 * Commits of users that stand above the last push of the agent. `null`: unknown, since no push is among them (the
 * branch was rewritten) or they are not all there.
 * @param commits of the pull request, the oldest first.
 * @param pushed where our pushes left the branch, in any order.
 */
export function humanCommits(
  commits: readonly BranchCommit[],
  whole: boolean,
  pushed: readonly string[],
): number | null {
  const at = commits.findLastIndex(({ sha }) => pushed.includes(sha));
  if (at === -1 || !whole) return null;
  return commits.slice(at + 1).filter(({ isMerge, byBot }) => !isMerge && !byBot).length;
}

/** How it stands with a revert or an edit of a pull request. */
export type After = 'no' | 'yes' | 'pending' | 'pending-yes' | 'unknown';

export interface AfterFacts {
  readonly found: boolean;
  /** Of the window, 0 to 14. */
  readonly watchedDays: number;
  /** Everything was read. */
  readonly read: boolean;
  /** Its host is still to be asked. */
  readonly asking: boolean;
}

/** Of a merged pull request. What was not read is never a no. The same as the SQL of the report has it. */
export function afterOf({ found, watchedDays, read, asking }: AfterFacts): After {
  if (watchedDays < WINDOW_DAYS && asking) return found ? 'pending-yes' : 'pending';
  if (found) return 'yes';
  return watchedDays >= WINDOW_DAYS && read ? 'no' : 'unknown';
}
