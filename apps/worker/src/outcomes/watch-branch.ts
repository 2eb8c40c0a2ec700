import { firstEdit, humanCommits, revertsOf, watchedDaysAt, windowEnd } from '@slipway/domain/outcomes';
import type { PullRequestState, RepositoryHistory } from '@slipway/integrations';
import type { OutcomeRow, Watched } from './pull-request-outcomes.queries.js';

/** Most commits of a branch that are searched for a revert. */
export const MAX_COMMITS = 2_000;
/** Most files whose commits are asked for: a request each. */
export const MAX_FILES = 50;
/** Of one file. */
const MAX_FILE_COMMITS = 100;

/**
 * Reads what came to a branch after a pull request was merged into it. Each time the whole window so far: what was
 * found is the same however often it is read, and a revert that was itself reverted meanwhile counts no more.
 */
export async function watchBranch(
  history: RepositoryHistory,
  row: Pick<OutcomeRow, 'repository' | 'number' | 'pushedShas' | 'editedAt' | 'humanCommits'>,
  pull: PullRequestState,
  { mergedAt, now }: { readonly mergedAt: Date; readonly now: Date },
): Promise<Watched> {
  const place = { repository: row.repository, number: row.number };
  const made = await history.pullRequestCommits(place);
  const people = row.humanCommits ?? humanCommits(made.items, made.whole, row.pushedShas);
  const watchedDays = watchedDaysAt(mergedAt, now);
  if (watchedDays === 0)
    return { humanCommits: people, watchedDays, revertedAt: null, editedAt: null, editsRead: true, revertsRead: true };
  const span = {
    branch: pull.baseBranch,
    since: mergedAt,
    until: new Date(Math.min(now.getTime(), windowEnd(mergedAt).getTime())),
  };
  const own = new Set([...pull.mergeCommits, ...made.items.map(({ sha }) => sha)]);
  const after = await history.commits(row.repository, span, MAX_COMMITS);
  const target = { shas: [...own], repository: row.repository, number: row.number, title: pull.title };
  const reverts = revertsOf(
    target,
    after.items.filter(({ sha }) => !own.has(sha)),
  );
  const edits = await firstEditOf(history, place, { span, mergedAt, own, reverts: reverts.chain });
  return {
    humanCommits: people,
    watchedDays,
    revertedAt: reverts.standing?.at ?? null,
    editedAt: edits.at,
    editsRead: edits.read,
    revertsRead: after.whole,
  };
}

async function firstEditOf(
  history: RepositoryHistory,
  place: { readonly repository: string; readonly number: number },
  {
    span,
    ...of
  }: {
    readonly span: { readonly branch: string; readonly since: Date; readonly until: Date };
    readonly mergedAt: Date;
    readonly own: ReadonlySet<string>;
    readonly reverts: ReadonlySet<string>;
  },
): Promise<{ readonly at: Date | null; readonly read: boolean }> {
  const files = await history.pullRequestFiles(place);
  let read = files.whole && files.items.length <= MAX_FILES;
  for (const path of files.items.slice(0, MAX_FILES)) {
    const found = await history.commits(place.repository, { ...span, path }, MAX_FILE_COMMITS);
    const edit = firstEdit(found.items, of);
    // One is enough: whether, and not how often.
    if (edit !== null) return { at: edit.at, read: true };
    read = read && found.whole;
  }
  return { at: null, read };
}
