import { z } from 'zod';
import type { CodeHost, ForgeComments, Place, PullRequestState } from '../../calls/code-host.js';
import {
  confirmedBy,
  cut,
  forgeCalls,
  forgeComment,
  forgePullRequest,
  listedRepository,
  pageNumber,
  pageOf,
  pullRequestOf,
  writtenOf,
} from '../../calls/forge-calls.js';
import { historyCalls } from '../../calls/history-calls.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import { ProviderRefusal } from '../../calls/provider-refusal.js';
import { publishCalls } from '../../calls/publish-calls.js';
import { part, repo } from '../../calls/repository-path.js';
import { fields, id, list, maybe, name } from '../../reading/fields.js';
import { repositoryOf } from '../../reading/forge.js';
import { giteaCheckId, giteaCheckLog } from './check-log.js';
import { giteaOwnWork } from './own-work.js';

/** Gitea's own longest page, unless its administrator changed it. */
const PAGE = 50;
const DRAFT = 'WIP: ';
/** Of reviews, and of those whose line comments are read: each costs a request. */
const MAX_REVIEW_PAGES = 4;
const MAX_REVIEWS = 40;
const reviewed = fields({ id, comments_count: z.number().nullish().catch(null) });

const comparison = fields({ commits: maybe(z.array(fields({ parents: maybe(z.array(fields({ sha: name }))) }))) });

/** @param client below `/api/v1`. */
export function giteaCalls(client: ProviderClient): CodeHost & ForgeComments {
  const shared = forgeCalls(client);
  const published = publishCalls(client, giteaCheckId);
  const pullRequest = async (place: Place): Promise<PullRequestState> => conflictsOf(await shared.pullRequest(place));
  return {
    ...shared,
    ...published,
    history: historyCalls(client, { page: PAGE, oldestFirst: false }),
    pullRequest,
    checkLog: (repository, check) => giteaCheckLog(client, repository, check),
    ownWork: (account, repositories) =>
      giteaOwnWork(client, { pullRequest, checks: published.checks }, account, repositories),
    // Not `/user/repos`, which wants a token for users as well. It shows rights of others to administrators of the
    // repository only.
    repositories: async (asked, query) => {
      const page = pageNumber(asked);
      const path = `/repos/search?sort=alpha&limit=${PAGE}&page=${page}${query === undefined ? '' : `&q=${part(query)}`}`;
      const { body } = await client.call({ method: 'GET', path, answer: fields({ data: list(listedRepository) }) });
      const { next } = pageOf(body.data, page, PAGE);
      return { items: body.data.filter(({ permissions }) => permissions?.admin === true).map(repositoryOf), next };
    },
    branches: async (repository, asked) => {
      const page = pageNumber(asked);
      const path = `${repo(repository)}/branches?limit=${PAGE}&page=${page}`;
      const { body } = await client.call({ method: 'GET', path, answer: list(fields({ name })) });
      return pageOf(
        body.map((each) => each.name),
        page,
        PAGE,
      );
    },
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
    // It keeps line comments in their reviews, oldest first.
    findReviewReply: async ({ repository, number }, marker) => {
      const pull = `${repo(repository)}/pulls/${number}`;
      const all: z.output<typeof reviewed>[] = [];
      for (let page = 1; page <= MAX_REVIEW_PAGES; page += 1) {
        const { body } = await client.call({
          method: 'GET',
          path: `${pull}/reviews?limit=${PAGE}&page=${page}`,
          answer: z.array(reviewed),
        });
        all.push(...body);
        if (body.length < PAGE) break;
      }
      const withLines = all.filter(({ comments_count }) => (comments_count ?? 0) > 0).toReversed();
      for (const { id: review } of withLines.slice(0, MAX_REVIEWS)) {
        const { body } = await client.call({
          method: 'GET',
          path: `${pull}/reviews/${part(review)}/comments`,
          answer: z.array(forgeComment),
        });
        const found = body.find((each) => each.body.includes(marker));
        if (found !== undefined) return writtenOf(found);
      }
      return null;
    },
    resolveReview: async ({ repository }, commentId) => {
      await client.call({
        method: 'POST',
        path: `${repo(repository)}/pulls/comments/${part(commentId)}/resolve`,
        answer: z.unknown(),
      });
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
function conflictsOf(pull: PullRequestState): PullRequestState {
  const draft = pull.draft || pull.title.startsWith(DRAFT);
  return { ...pull, draft, mergeable: draft && pull.mergeable === false ? null : pull.mergeable };
}
