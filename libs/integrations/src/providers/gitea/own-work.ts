import { z } from 'zod';
import type { CodeHost, OwnWork, OwnWorkList, RepositoryListing } from '../../calls/code-host.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import { part, repo } from '../../calls/repository-path.js';
import { fields, list, maybe, text, title, url } from '../../reading/fields.js';
import { user } from '../../reading/forge.js';

/** Open pull requests and issues of one repository. */
const PAGE = 20;
/** Pull requests of one repository that are read: each costs a few requests. */
const MAX_PULLS = 4;
/** Reviews of a pull request whose line comments are read, the newest. */
const MAX_REVIEWS = 4;
const REVIEW_PAGE = 50;

const item = fields({ number: z.number().int().positive(), title, body: text, html_url: url });
const review = fields({ id: z.number().int(), comments_count: z.number().nullish().catch(null) });
const line = fields({ resolver: maybe(user) });

/** Gitea has no search by user over all repositories, so these are listed. @throws ProviderRefusal */
export async function giteaOwnWork(
  client: ProviderClient,
  host: Pick<CodeHost, 'pullRequest' | 'checks'>,
  { login }: { readonly login: string },
  repositories: readonly RepositoryListing[],
): Promise<OwnWorkList> {
  const lists = await Promise.all(repositories.map((each) => ofRepository(client, host, login, each)));
  return { items: lists.flatMap(({ items }) => items), more: lists.some(({ more }) => more) };
}

async function ofRepository(
  client: ProviderClient,
  host: Pick<CodeHost, 'pullRequest' | 'checks'>,
  login: string,
  { fullName, defaultBranch }: RepositoryListing,
): Promise<OwnWorkList> {
  const open = (type: 'pulls' | 'issues', by: string) =>
    client.call({
      method: 'GET',
      path: `${repo(fullName)}/issues?state=open&type=${type}&${by}=${part(login)}&limit=${PAGE}`,
      answer: list(item),
    });
  const [pulls, issues, red] = await Promise.all([
    open('pulls', 'created_by'),
    open('issues', 'assigned_by'),
    defaultBranch === null ? [] : host.checks(fullName, defaultBranch),
  ]);
  const branch: OwnWork[] = red.some(({ state }) => state === 'failure')
    ? [
        {
          kind: 'red-default-branch',
          repository: fullName,
          number: null,
          title: `Checks fail on ${defaultBranch}`,
          url: red.find(({ state }) => state === 'failure')?.url ?? null,
          branch: defaultBranch,
          text: '',
        },
      ]
    : [];
  const looked = await Promise.all(
    pulls.body.slice(0, MAX_PULLS).map(({ number }) => ofPull(client, host, fullName, number)),
  );
  const assigned = issues.body.map(
    ({ number, title: words, body, html_url }): OwnWork => ({
      kind: 'issue',
      repository: fullName,
      number,
      title: words,
      url: html_url,
      branch: null,
      text: body,
    }),
  );
  return {
    items: [...branch, ...looked.flat(), ...assigned],
    more: pulls.body.length > MAX_PULLS || issues.body.length === PAGE,
  };
}

async function ofPull(
  client: ProviderClient,
  host: Pick<CodeHost, 'pullRequest' | 'checks'>,
  repository: string,
  number: number,
): Promise<OwnWork[]> {
  const pull = await host.pullRequest({ repository, number });
  if (pull.fork) return [];
  const [checks, unresolved] = await Promise.all([
    host.checks(repository, pull.headSha),
    hasUnresolved(client, `${repo(repository)}/pulls/${number}`),
  ]);
  const of = (kind: OwnWork['kind']): OwnWork => ({
    kind,
    repository,
    number,
    title: pull.title,
    url: pull.url,
    branch: pull.headBranch,
    text: '',
  });
  return [
    ...(pull.mergeable === false ? [of('conflicts')] : []),
    ...(checks.some(({ state }) => state === 'failure') ? [of('failing-checks')] : []),
    ...(unresolved ? [of('unresolved-comments')] : []),
  ];
}

async function hasUnresolved(client: ProviderClient, pull: string): Promise<boolean> {
  const { body } = await client.call({
    method: 'GET',
    path: `${pull}/reviews?limit=${REVIEW_PAGE}`,
    answer: list(review),
  });
  const withLines = body.filter(({ comments_count }) => (comments_count ?? 0) > 0).slice(-MAX_REVIEWS);
  const lines = await Promise.all(
    withLines.map(({ id }) =>
      client.call({ method: 'GET', path: `${pull}/reviews/${id}/comments`, answer: list(line) }),
    ),
  );
  return lines.some((each) => each.body.some(({ resolver }) => resolver === null));
}
