import { z } from 'zod';
import type { CodeHost, CommitCheck, ForgeComments } from '../../calls/code-host.js';
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
import { fields, id, list, maybe, name, text, title, url } from '../../reading/fields.js';
import { repositoryOf } from '../../reading/forge.js';
import { githubCheckLog } from './check-log.js';
import { graphql } from './graphql.js';
import { githubOwnWork } from './own-work.js';

const PAGE = 100;

const THREADS = `query($owner: String!, $name: String!, $number: Int!) { repository(owner: $owner, name: $name) { pullRequest(number: $number) {
  reviewThreads(last: 100) { nodes { id isResolved comments(first: 50) { nodes { databaseId } } } } } } }`;
const RESOLVE = 'mutation($id: ID!) { resolveReviewThread(input: { threadId: $id }) { thread { isResolved } } }';
const thread = fields({
  id: name,
  isResolved: z.boolean(),
  comments: fields({ nodes: z.array(fields({ databaseId: id })) }),
});
const threads = fields({
  repository: fields({ pullRequest: fields({ reviewThreads: fields({ nodes: list(thread) }) }) }),
});

const comparison = fields({ merge_base_commit: fields({ sha: name }) });
const checkRun = fields({
  id,
  name: title,
  status: name,
  conclusion: maybe(name),
  html_url: url,
  output: maybe(fields({ title: text })),
});
const FAILED = new Set(['failure', 'timed_out', 'action_required', 'startup_failure']);

function checkOf(run: z.output<typeof checkRun>): CommitCheck {
  const { conclusion } = run;
  const ended = conclusion === 'success' ? 'success' : FAILED.has(conclusion ?? '') ? 'failure' : 'neutral';
  return {
    id: `run-${run.id}`,
    name: run.name,
    state: run.status === 'completed' ? ended : 'pending',
    description: run.output?.title ?? '',
    url: run.html_url,
  };
}

/** @param client of `api.github.com`, or of `/api/v3` of GitHub Enterprise, with an installation's token. */
export function githubCalls(client: ProviderClient): CodeHost & ForgeComments {
  const publish = publishCalls(client);
  return {
    ...forgeCalls(client),
    ...publish,
    history: historyCalls(client, { page: PAGE, oldestFirst: true }),
    checks: async (repository, sha) => {
      const path = `${repo(repository)}/commits/${part(sha)}/check-runs?per_page=${PAGE}`;
      const { body } = await client.call({ method: 'GET', path, answer: fields({ check_runs: z.array(checkRun) }) });
      return [...body.check_runs.map(checkOf), ...(await publish.checks(repository, sha))].slice(0, PAGE);
    },
    ownWork: (account, repositories) => githubOwnWork(client, account, repositories),
    checkLog: (repository, check) => githubCheckLog(client, repository, check),
    repositories: async (asked) => {
      const page = pageNumber(asked);
      const listed = await repositories(client, page);
      const { next } = pageOf(listed, page, PAGE);
      // It shows rights of others only to users with write access.
      return { items: listed.filter(({ permissions }) => permissions?.push !== false).map(repositoryOf), next };
    },
    branches: async (repository, asked) => {
      const page = pageNumber(asked);
      const path = `${repo(repository)}/branches?per_page=${PAGE}&page=${page}`;
      const { body } = await client.call({ method: 'GET', path, answer: list(fields({ name })) });
      return pageOf(
        body.map((each) => each.name),
        page,
        PAGE,
      );
    },
    createPullRequest: async (repository, { body, ...pull }) => {
      try {
        const sent = { ...pull, body: cut(body), maintainer_can_modify: true };
        return pullRequestOf(
          (
            await client.call({
              method: 'POST',
              path: `${repo(repository)}/pulls`,
              body: sent,
              answer: forgePullRequest,
            })
          ).body,
          repository,
        );
      } catch (error) {
        // GitHub calls it invalid that there is one already.
        if (error instanceof ProviderRefusal && error.kind === 'invalid' && /already exists/i.test(error.message))
          throw new ProviderRefusal(error.message, { ...error, kind: 'conflict' }, { cause: error });
        throw error;
      }
    },
    findPullRequest: async (repository, { head, base }) => {
      const owner = repository.split('/', 1)[0] ?? '';
      const path = `${repo(repository)}/pulls?state=open&head=${part(`${owner}:${head}`)}&base=${part(base)}`;
      const { body } = await client.call({ method: 'GET', path, answer: z.array(forgePullRequest) });
      const [found] = body;
      return found === undefined ? null : pullRequestOf(found, repository);
    },
    isAncestor: (repository, commit, of) => {
      if (commit === of) return Promise.resolve(true);
      // In this order the answer has neither commits nor files when it is one.
      const path = `${repo(repository)}/compare/${part(of)}...${part(commit)}?per_page=1`;
      return confirmedBy(
        client
          .call({ method: 'GET', path, answer: comparison })
          .then(({ body }) => body.merge_base_commit.sha === commit),
      );
    },
    findReviewReply: async ({ repository, number }, marker) => {
      const path = `${repo(repository)}/pulls/${number}/comments?sort=created&direction=desc&per_page=${PAGE}`;
      const { body } = await client.call({ method: 'GET', path, answer: z.array(forgeComment) });
      const found = body.find((each) => each.body.includes(marker));
      return found === undefined ? null : writtenOf(found);
    },
    resolveReview: async ({ repository, number }, commentId) => {
      const [owner = '', repositoryName = ''] = repository.split('/');
      const variables = { owner, name: repositoryName, number };
      const found = await graphql(client, { query: THREADS, variables, data: threads });
      const thread = found.repository.pullRequest.reviewThreads.nodes.find(({ comments }) =>
        comments.nodes.some(({ databaseId }) => databaseId === commentId),
      );
      if (thread === undefined || thread.isResolved) return;
      await graphql(client, { query: RESOLVE, variables: { id: thread.id }, data: z.unknown() });
    },
    merge: async ({ repository, number }, sha) => {
      await client.call({
        method: 'PUT',
        path: `${repo(repository)}/pulls/${number}/merge`,
        body: { sha },
        answer: z.unknown(),
      });
    },
  };
}

/** Of a user's token, or of an installation's. */
async function repositories(
  client: ProviderClient,
  page: number,
): Promise<readonly z.output<typeof listedRepository>[]> {
  const pages = `per_page=${PAGE}&page=${page}`;
  try {
    return (
      await client.call({ method: 'GET', path: `/user/repos?sort=full_name&${pages}`, answer: list(listedRepository) })
    ).body;
  } catch (error) {
    if (!(error instanceof ProviderRefusal) || error.kind !== 'forbidden') throw error;
    const answer = fields({ repositories: list(listedRepository) });
    const { body } = await client.call({ method: 'GET', path: `/installation/repositories?${pages}`, answer });
    // An installation has rights of its own: what stands there is of no user.
    return body.repositories.map((each) => ({ ...each, permissions: null }));
  }
}
