import { z } from 'zod';
import type { CodeHost, ForgeComments, Place, PullRequestState } from '../../calls/code-host.js';
import { confirmedBy, forgeCalls } from '../../calls/forge-calls.js';
import { historyCalls } from '../../calls/history-calls.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import { publishCalls } from '../../calls/publish-calls.js';
import { part, repo } from '../../calls/repository-path.js';
import { fields, maybe, name } from '../../reading/fields.js';
import { giteaCheckId, giteaCheckLog } from './check-log.js';
import { giteaOwnWork } from './own-work.js';
import { PAGE } from './page.js';
import { conflictsOf, giteaPullRequests } from './pull-requests.js';
import { giteaRepositories } from './repositories.js';
import { giteaReviews } from './reviews.js';

const comparison = fields({ commits: maybe(z.array(fields({ parents: maybe(z.array(fields({ sha: name }))) }))) });

/** @param client below `/api/v1`. */
export function giteaCalls(client: ProviderClient): CodeHost & ForgeComments {
  const shared = forgeCalls(client);
  const published = publishCalls(client, giteaCheckId);
  const pullRequest = async (place: Place): Promise<PullRequestState> => conflictsOf(await shared.pullRequest(place));
  return {
    ...shared,
    ...published,
    ...giteaRepositories(client),
    ...giteaPullRequests(client),
    ...giteaReviews(client),
    history: historyCalls(client, { page: PAGE, oldestFirst: false }),
    pullRequest,
    checkLog: (repository, check) => giteaCheckLog(client, repository, check),
    ownWork: (account, repositories) =>
      giteaOwnWork(client, { pullRequest, checks: published.checks }, account, repositories),
    isAncestor: (repository, commit, of) => {
      if (commit === of) return Promise.resolve(true);
      // Gitea names no merge base, and two histories without one have no commits between them: what is after an
      // ancestor has it for a parent.
      const path = `${repo(repository)}/compare/${part(commit)}...${part(of)}?stat=false&verification=false&files=false`;
      const asked = client.call({ method: 'GET', path, answer: comparison });
      return confirmedBy(
        asked.then(({ body }) =>
          (body.commits ?? []).some(({ parents }) => (parents ?? []).some(({ sha }) => sha === commit)),
        ),
      );
    },
  };
}
