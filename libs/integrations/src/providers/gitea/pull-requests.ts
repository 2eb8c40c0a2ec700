import { z } from 'zod';
import type { CodeHost, PullRequestState } from '../../calls/code-host.js';
import { cut, forgePullRequest, pullRequestOf } from '../../calls/forge-calls.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import { ProviderRefusal } from '../../calls/provider-refusal.js';
import { part, repo } from '../../calls/repository-path.js';

const DRAFT = 'WIP: ';

/** Opens, finds and merges pull requests. */
export function giteaPullRequests(
  client: ProviderClient,
): Pick<CodeHost, 'createPullRequest' | 'findPullRequest' | 'merge'> {
  return {
    createPullRequest: async (repository, { head, base, title, body, draft }) => {
      // A draft is one by its title.
      const pull = { head, base, body: cut(body), title: draft ? `${DRAFT}${title}` : title };
      return pullRequestOf(
        (await client.call({ method: 'POST', path: `${repo(repository)}/pulls`, body: pull, answer: forgePullRequest }))
          .body,
        repository,
      );
    },
    findPullRequest: async (repository, { head, base }) => {
      const path = `${repo(repository)}/pulls/${part(base)}/${head.split('/').map(part).join('/')}`;
      try {
        const found = pullRequestOf(
          (await client.call({ method: 'GET', path, answer: forgePullRequest })).body,
          repository,
        );
        return found.state === 'open' ? found : null;
      } catch (error) {
        if (error instanceof ProviderRefusal && error.kind === 'missing') return null;
        throw error;
      }
    },
    merge: async ({ repository, number }, sha) => {
      const body = { Do: 'merge', head_commit_id: sha };
      try {
        await client.call({
          method: 'POST',
          path: `${repo(repository)}/pulls/${number}/merge`,
          body,
          answer: z.unknown(),
        });
      } catch (error) {
        // It is still checking for conflicts.
        if (error instanceof ProviderRefusal && error.kind === 'conflict' && /try again later/i.test(error.message))
          throw new ProviderRefusal(error.message, { ...error, kind: 'unavailable' }, { cause: error });
        throw error;
      }
    },
  };
}

/** Gitea says of a draft, and of one still being checked, that it cannot be merged. */
export function conflictsOf(pull: PullRequestState): PullRequestState {
  const draft = pull.draft || pull.title.startsWith(DRAFT);
  return { ...pull, draft, mergeable: draft && pull.mergeable === false ? null : pull.mergeable };
}
