import type { PullRequestState, Review } from '@slipway/integrations';
import type { SeenPullRequest } from './pull-request-outcomes.queries.js';

export interface SeenFacts {
  readonly pull: PullRequestState;
  readonly reviews: readonly Review[];
  readonly own: readonly string[];
  readonly seenAt: Date;
}

/**
 * State of a pull request from one poll of its host.
 * @param own ids of our accounts there: their comments are no reviews.
 * @param seenAt before the host was asked. It stands for the time of a review for which the host gives none.
 */
export function seenPullRequest(repository: string, { pull, reviews, own, seenAt }: SeenFacts): SeenPullRequest {
  const ofPeople = reviews.filter(({ userId, byBot }) => byBot !== true && !own.includes(userId));
  const times = ofPeople.flatMap(({ at }) => (at == null ? [] : [at.getTime()]));
  return {
    state: pull.state,
    repository,
    base: pull.baseBranch,
    draft: pull.draft,
    mergedAt: pull.moments.merged,
    closedAt: pull.moments.closed,
    mergeSha: pull.mergeCommits[0] ?? null,
    firstReviewAt: ofPeople.length === 0 ? null : times.length > 0 ? new Date(Math.min(...times)) : seenAt,
    seenAt,
  };
}
