import { z } from 'zod';
import type { OwnWork, OwnWorkList, RepositoryListing } from '../../calls/code-host.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import { fields, flag, list, maybe, name, text, title, url } from '../../reading/fields.js';
import { graphql } from './graphql.js';

/** Of pull requests and of issues. */
const MAX_FOUND = 30;
/** Threads read of one pull request. */
const MAX_THREADS = 50;
/** Repositories whose default branch is checked. */
const MAX_BRANCHES = 10;

const QUERY = `query($pulls: String!, $issues: String!) {
  pulls: search(type: ISSUE, first: ${MAX_FOUND}, query: $pulls) { issueCount nodes { ... on PullRequest { number title url headRefName isCrossRepository mergeable
    repository { nameWithOwner } commits(last: 1) { nodes { commit { statusCheckRollup { state } } } } reviewThreads(first: ${MAX_THREADS}) { nodes { isResolved } } } } }
  issues: search(type: ISSUE, first: ${MAX_FOUND}, query: $issues) { issueCount nodes { ... on Issue { number title url body repository { nameWithOwner } } } } }`;

const place = fields({ nameWithOwner: name });
const rollup = maybe(fields({ state: name }));
const pull = fields({
  number: z.number().int().positive(),
  title,
  url,
  headRefName: name,
  isCrossRepository: flag,
  mergeable: maybe(name),
  repository: place,
  commits: fields({ nodes: list(fields({ commit: fields({ statusCheckRollup: rollup }) })) }),
  reviewThreads: fields({ nodes: list(fields({ isResolved: flag })) }),
});
const issue = fields({ number: z.number().int().positive(), title, url, body: text, repository: place });
const found = fields({
  pulls: fields({ issueCount: z.number(), nodes: list(pull) }),
  issues: fields({ issueCount: z.number(), nodes: list(issue) }),
});
const branch = maybe(
  fields({
    nameWithOwner: name,
    url,
    defaultBranchRef: maybe(fields({ name, target: maybe(fields({ statusCheckRollup: rollup })) })),
  }),
);
const FAILED = new Set(['FAILURE', 'ERROR']);

/** Two queries: GitHub searches by user, wherever the token reaches. @throws ProviderRefusal */
export async function githubOwnWork(
  client: ProviderClient,
  { login }: { readonly login: string },
  repositories: readonly RepositoryListing[],
): Promise<OwnWorkList> {
  if (!/^[\w-]{1,100}(?:\[bot\])?$/.test(login)) return { items: [], more: false };
  const variables = {
    pulls: `is:pr is:open archived:false author:${login}`,
    issues: `is:issue is:open archived:false assignee:${login}`,
  };
  const { pulls, issues } = await graphql(client, { query: QUERY, variables, data: found });
  const names = [
    ...new Set(
      [...pulls.nodes, ...issues.nodes]
        .map(({ repository }) => repository.nameWithOwner)
        .concat(repositories.map(({ fullName }) => fullName)),
    ),
  ];
  const items = [
    ...(await redBranches(client, names.slice(0, MAX_BRANCHES))),
    ...pulls.nodes.flatMap(ofPull),
    ...issues.nodes.map(ofIssue),
  ];
  return { items, more: pulls.issueCount > pulls.nodes.length || issues.issueCount > issues.nodes.length };
}

async function redBranches(client: ProviderClient, names: readonly string[]): Promise<OwnWork[]> {
  if (names.length === 0) return [];
  const variables = Object.fromEntries(
    names.flatMap((each, index) => [
      [`o${index}`, each.split('/')[0]],
      [`n${index}`, each.split('/')[1]],
    ]),
  );
  const asked = names.map(
    (_, index) =>
      `r${index}: repository(owner: $o${index}, name: $n${index}) { nameWithOwner url defaultBranchRef { name target { ... on Commit { statusCheckRollup { state } } } } }`,
  );
  const query = `query(${names.map((_, index) => `$o${index}: String!, $n${index}: String!`).join(', ')}) { ${asked.join(' ')} }`;
  const answered = await graphql(client, { query, variables, data: z.record(z.string(), branch) });
  return Object.values(answered).flatMap((each) => {
    const ref = each?.defaultBranchRef;
    if (each == null || ref == null || !FAILED.has(ref.target?.statusCheckRollup?.state ?? '')) return [];
    return [
      {
        kind: 'red-default-branch' as const,
        repository: each.nameWithOwner,
        number: null,
        title: `Checks fail on ${ref.name}`,
        url: each.url,
        branch: ref.name,
        text: '',
      },
    ];
  });
}

/**
 * What GitHub has not found out yet (`UNKNOWN`) is no conflict; a head in another repository is not ours to push to.
 */
function ofPull({
  number,
  title: words,
  url: at,
  headRefName,
  isCrossRepository,
  mergeable,
  repository,
  commits,
  reviewThreads,
}: z.output<typeof pull>): OwnWork[] {
  if (isCrossRepository) return [];
  const of = (kind: OwnWork['kind']): OwnWork => ({
    kind,
    repository: repository.nameWithOwner,
    number,
    title: words,
    url: at,
    branch: headRefName,
    text: '',
  });
  return [
    ...(mergeable === 'CONFLICTING' ? [of('conflicts')] : []),
    ...(FAILED.has(commits.nodes[0]?.commit.statusCheckRollup?.state ?? '') ? [of('failing-checks')] : []),
    ...(reviewThreads.nodes.some(({ isResolved }) => !isResolved) ? [of('unresolved-comments')] : []),
  ];
}

function ofIssue({ number, title: words, url: at, body, repository }: z.output<typeof issue>): OwnWork {
  return {
    kind: 'issue',
    repository: repository.nameWithOwner,
    number,
    title: words,
    url: at,
    branch: null,
    text: body,
  };
}
