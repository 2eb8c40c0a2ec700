import { z } from 'zod';
import { blob, blobText } from '../../calls/blob.js';
import type { CodeHost, CommitCheck, HostTree, RepositoryListing } from '../../calls/code-host.js';
import { confirmedBy, pageNumber, pageOf } from '../../calls/forge-calls.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import { ProviderRefusal } from '../../calls/provider-refusal.js';
import { fields, flag, id, list, maybe, name, text, title, url } from '../../reading/fields.js';
import { gitlabPermission } from './calls.js';
import { gitlabCheckLog } from './check-log.js';
import { gitlabHistory } from './history.js';
import { mergeRequestCalls } from './merge-requests.js';
import { gitlabOwnWork } from './own-work.js';
import { part, project } from './paths.js';
import { reviewCalls } from './reviews.js';

const PAGE = 100;
/** Of one folder: a thousand entries. */
const MAX_TREE_PAGES = 10;
const MAX_DESCRIPTION = 255;
/** GitLab's level of who may push. */
const DEVELOPER = 30;

const listed = fields({ id, path_with_namespace: name, default_branch: maybe(name), visibility: maybe(name) });
const status = fields({
  id: z.number().int(),
  name: title,
  status: name,
  allow_failure: flag,
  description: text,
  target_url: url,
});
const entry = fields({ id: name, name: z.string(), type: maybe(name) });

/** Private unless it says public; so are internal ones, which not all users may read. */
function listingOf({
  id: projectId,
  path_with_namespace: fullName,
  default_branch: defaultBranch,
  visibility,
}: z.output<typeof listed>): RepositoryListing {
  return { id: projectId, fullName, private: visibility !== 'public', defaultBranch };
}

const STATES: Readonly<Record<string, CommitCheck['state']>> = {
  success: 'success',
  failed: 'failure',
  canceled: 'neutral',
  skipped: 'neutral',
  manual: 'neutral',
};

/** @param client below `/api/v4`. */
export function gitlabCalls(client: ProviderClient): CodeHost {
  return {
    ...mergeRequestCalls(client),
    ...reviewCalls(client),
    history: gitlabHistory(client),
    permissionOf: (repository, actor) => gitlabPermission(client, repository, actor),
    repositories: async (page, query) => {
      const after = page !== null && /^\d{1,18}$/.test(page) ? `&id_after=${page}` : '';
      const search = query === undefined ? '' : `&search_namespaces=true&search=${part(query)}`;
      const path = `/projects?membership=true&min_access_level=${DEVELOPER}&simple=true&pagination=keyset&order_by=id&sort=asc&per_page=${PAGE}${after}${search}`;
      const { body } = await client.call({ method: 'GET', path, answer: list(listed) });
      return { items: body.map(listingOf), next: body.length < PAGE ? null : (body.at(-1)?.id ?? null) };
    },
    branches: async (repository, asked) => {
      const page = pageNumber(asked);
      const path = `${project(repository)}/repository/branches?per_page=${PAGE}&page=${page}`;
      const { body } = await client.call({ method: 'GET', path, answer: list(fields({ name })) });
      return pageOf(
        body.map((each) => each.name),
        page,
        PAGE,
      );
    },
    repository: async (fullName) =>
      listingOf((await client.call({ method: 'GET', path: project(fullName), answer: listed })).body),
    tree: async (repository, { at }) => {
      // A tree is found by a commit and a path here, never by its hash.
      if (at === null)
        throw new ProviderRefusal('no commit is known that has the folder', {
          kind: 'missing',
          status: null,
          retryAt: null,
          outcomeUnknown: false,
        });
      return treeOf(
        client,
        `${project(repository)}/repository/tree?ref=${part(at.commit)}&path=${part(at.path)}&per_page=${PAGE}&pagination=keyset`,
      );
    },
    blob: async (repository, hash) =>
      blobText(
        (
          await client.call({
            method: 'GET',
            path: `${project(repository)}/repository/blobs/${part(hash)}`,
            answer: blob,
          })
        ).body,
      ),
    isAncestor: (repository, commit, of) => {
      if (commit === of) return Promise.resolve(true);
      const path = `${project(repository)}/repository/merge_base?refs%5B%5D=${part(commit)}&refs%5B%5D=${part(of)}`;
      return confirmedBy(
        client.call({ method: 'GET', path, answer: fields({ id: name }) }).then(({ body }) => body.id === commit),
      );
    },
    checks: async (repository, sha) => {
      const path = `${project(repository)}/repository/commits/${part(sha)}/statuses?per_page=${PAGE}`;
      const { body } = await client.call({ method: 'GET', path, answer: list(status) });
      // Each pipeline of the commit has its own.
      const newest = new Map<string, z.output<typeof status>>();
      for (const each of body.toSorted((one, other) => one.id - other.id)) newest.set(each.name, each);
      return [...newest.values()].map(checkOf);
    },
    checkLog: (repository, check) => gitlabCheckLog(client, repository, check),
    ownWork: (account, repositories) => gitlabOwnWork(client, account, repositories),
    setStatus: async (repository, sha, { state, context, description, url: target_url }) => {
      const wanted = state === 'failure' || state === 'error' ? 'failed' : state;
      const body = { state: wanted, name: context, description: description.slice(0, MAX_DESCRIPTION), target_url };
      try {
        await client.call({
          method: 'POST',
          path: `${project(repository)}/statuses/${part(sha)}`,
          body,
          answer: z.unknown(),
        });
      } catch (error) {
        // So GitLab says that it has this state already.
        const from =
          error instanceof ProviderRefusal
            ? /Cannot transition status via :\w+ from :(\w+)/.exec(error.message)?.[1]
            : undefined;
        if (from !== wanted) throw error;
      }
    },
  };
}

function checkOf({
  id: statusId,
  name: called,
  status: state,
  allow_failure,
  description,
  target_url,
}: z.output<typeof status>): CommitCheck {
  const known = STATES[state] ?? 'pending';
  return {
    id: `status-${statusId}`,
    name: called,
    state: known === 'failure' && allow_failure ? 'neutral' : known,
    description,
    url: target_url,
  };
}

async function treeOf(client: ProviderClient, path: string): Promise<HostTree> {
  const entries = new Map<string, string>();
  const folders = new Set<string>();
  let token: string | null = null;
  for (let page = 1; page <= MAX_TREE_PAGES; page += 1) {
    const { body, headers } = await client.call({
      method: 'GET',
      path: `${path}${token === null ? '' : `&page_token=${part(token)}`}`,
      answer: list(entry),
    });
    for (const each of body) {
      entries.set(each.name, each.id);
      if (each.type === 'tree') folders.add(each.name);
    }
    token = nextToken(headers.get('link'));
    if (token === null) return { whole: true, entries, folders };
  }
  return { whole: false, entries, folders };
}

/** Of GitLab's own link to the next page only the token is taken. */
function nextToken(link: string | null): string | null {
  const [, next] = /<([^<>]{1,4000})>;\s*rel="?next"?/.exec(link ?? '') ?? [];
  return next === undefined ? null : (URL.parse(next)?.searchParams.get('page_token') ?? null);
}
