import {
  type ChecksSummary,
  MAX_CHECKS,
  type PullRequest,
  type PullRequestCheck,
} from '@slipway/contracts/repositories';
import type { CodeHost, CommitCheck, Review } from '@slipway/integrations';
import type { PullRequestRow } from '@slipway/integrations/pull-requests';
import type { SeenPullRequest } from '../outcomes/pull-request-outcomes.queries.js';
import { seenPullRequest } from '../outcomes/seen-pull-request.js';
import type { PullRequestChange } from './pull-requests.queries.js';

const MAX_WORDS = 500;

export interface Look {
  readonly change: PullRequestChange;
  readonly seen: SeenPullRequest;
}

/** What the git host says of a pull request now. @param own ids of our accounts there. */
export async function lookAt(
  calls: CodeHost,
  row: PullRequestRow & { readonly number: number },
  own: readonly string[],
  now: Date,
): Promise<Look> {
  const place = { repository: row.repository, number: row.number };
  const known = row.headSha;
  const [pull, reviews, checksOfKnown] = await Promise.all([
    calls.pullRequest(place),
    calls.reviews(row.repository, row.number),
    known === null ? [] : calls.checks(row.repository, known),
  ]);
  // Another user may have pushed.
  const checks = pull.headSha === known ? checksOfKnown : await calls.checks(row.repository, pull.headSha);
  const checkList = checks.slice(0, MAX_CHECKS).map(shown);
  const change: PullRequestChange = {
    state: pull.state,
    draft: pull.draft,
    title: pull.title.slice(0, MAX_WORDS),
    url: pull.url,
    headSha: pull.headSha === '' ? row.headSha : pull.headSha,
    conflicts: pull.state !== 'open' || pull.mergeable === null ? null : !pull.mergeable,
    checks: summaryOf(checkList),
    checkList,
    review: reviewOf(reviews),
    ...(row.merge === 'queued' && pull.state === 'merged' ? { merge: 'done' as const, mergeWanted: null } : {}),
    refreshedAt: now,
  };
  return { change, seen: seenPullRequest(row.repository, { pull, reviews, own, seenAt: now }) };
}

function shown({ id, name, state, description, url }: CommitCheck): PullRequestCheck {
  return { id, name: name.slice(0, MAX_WORDS), state, description: description.slice(0, MAX_WORDS), url };
}

export function summaryOf(checks: readonly Pick<PullRequestCheck, 'state'>[]): ChecksSummary {
  const count = (state: PullRequestCheck['state']): number => checks.filter((each) => each.state === state).length;
  const [failed, pending, passed] = [count('failure'), count('pending'), count('success')];
  const state =
    failed > 0 ? 'failure' : pending > 0 ? 'pending' : passed > 0 ? 'success' : checks.length > 0 ? 'neutral' : 'none';
  return { state, pending, failed, passed };
}

/**
 * Of each reviewer the last verdict counts, and a comment takes none back; one who wants changes outweighs all who
 * approve.
 */
export function reviewOf(reviews: readonly Review[]): PullRequest['review'] {
  const verdicts = new Map<string, Review['verdict']>();
  for (const { userId, verdict } of reviews)
    if (verdict !== 'commented' || !verdicts.has(userId)) verdicts.set(userId, verdict);
  const all = [...verdicts.values()];
  return all.includes('changes-requested')
    ? 'changes-requested'
    : all.includes('approved')
      ? 'approved'
      : all.includes('commented')
        ? 'commented'
        : 'none';
}
