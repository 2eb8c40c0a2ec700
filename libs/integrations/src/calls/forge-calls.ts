import { z } from 'zod';
import { dateOf, fields, flag, id, maybe, name, text, url } from '../reading/fields.js';
import {
  pullRequest as pullRequestFields,
  pullRequestSubject,
  repository as repositoryFields,
} from '../reading/forge.js';
import type { CodeHost, ForgeComments, FullName, PageOf, Permission, PullRequestState, Written } from './code-host.js';
import type { ProviderClient } from './provider-client.js';
import { ProviderRefusal, type RefusalKind } from './provider-refusal.js';
import type { PublishCalls } from './publish-calls.js';
import { part, repo } from './repository-path.js';

const written = fields({ id, html_url: url });
export const forgeComment = fields({ id, html_url: url, body: text });
const permission = fields({ permission: name, user: fields({ id }) });
const nothing = z.unknown();

/** The longest text that GitHub takes. Characters; Gitea takes it too. */
const MAX_BODY = 65_536;
const MAX_DESCRIPTION = 140;
const PAGE = 50;
const COMMENT_PAGE = 100;
/** No further comment is written while the outcome of one is unknown. */
const MAX_COMMENT_PAGES = 10;

export type Shared = ForgeComments &
  Omit<
    CodeHost,
    | 'repositories'
    | 'createPullRequest'
    | 'findPullRequest'
    | 'merge'
    | 'branches'
    | 'findReviewReply'
    | 'resolveReview'
    | 'isAncestor'
    | keyof PublishCalls
  >;

/** What GitHub and Gitea are called for alike, below their own base paths. */
export function forgeCalls(client: ProviderClient): Shared {
  return {
    react: async ({ repository, number }, target) => {
      const at =
        target.kind === 'subject'
          ? `issues/${number}`
          : `${target.kind === 'comment' ? 'issues' : 'pulls'}/comments/${part(target.id)}`;
      await client.call({
        method: 'POST',
        path: `${repo(repository)}/${at}/reactions`,
        body: { content: 'eyes' },
        answer: nothing,
      });
    },
    comment: async ({ repository, number }, body) =>
      writtenOf(
        (
          await client.call({
            method: 'POST',
            path: `${repo(repository)}/issues/${number}/comments`,
            body: { body: cut(body) },
            answer: written,
          })
        ).body,
      ),
    updateComment: async (repository, commentId, body) =>
      writtenOf(
        (
          await client.call({
            method: 'PATCH',
            path: `${repo(repository)}/issues/comments/${part(commentId)}`,
            body: { body: cut(body) },
            answer: written,
          })
        ).body,
      ),
    findComment: async ({ repository, number }, marker, since) => {
      // Gitea gives all of them on the first page.
      for (let page = 1; page <= MAX_COMMENT_PAGES; page += 1) {
        const path = `${repo(repository)}/issues/${number}/comments?since=${part(since.toISOString())}&per_page=${COMMENT_PAGE}&page=${page}`;
        const { body } = await client.call({ method: 'GET', path, answer: z.array(forgeComment) });
        const found = body.find((each) => each.body.includes(marker));
        if (found !== undefined) return writtenOf(found);
        if (body.length !== COMMENT_PAGE) break;
      }
      return null;
    },
    permissionOf: async (repository, { login }) => {
      const path = `${repo(repository)}/collaborators/${part(login)}/permission`;
      const { body } = await client.call({ method: 'GET', path, answer: permission });
      return { userId: body.user.id, access: accessOf(body.permission) };
    },
    pullRequest: async ({ repository, number }) =>
      pullRequestOf(
        (await client.call({ method: 'GET', path: `${repo(repository)}/pulls/${number}`, answer: forgePullRequest }))
          .body,
        repository,
      ),
    updatePullRequest: async ({ repository, number }, change) => {
      const body = { ...change, ...(change.body === undefined ? {} : { body: cut(change.body) }) };
      return pullRequestOf(
        (
          await client.call({
            method: 'PATCH',
            path: `${repo(repository)}/pulls/${number}`,
            body,
            answer: forgePullRequest,
          })
        ).body,
        repository,
      );
    },
    replyToReview: async ({ repository, number }, commentId, body) => {
      const path = `${repo(repository)}/pulls/${number}/comments/${part(commentId)}/replies`;
      return writtenOf((await client.call({ method: 'POST', path, body: { body: cut(body) }, answer: written })).body);
    },
    setStatus: async (repository, sha, { state, context, description, url: target_url }) => {
      const body = { state, context, description: description.slice(0, MAX_DESCRIPTION), target_url };
      await client.call({ method: 'POST', path: `${repo(repository)}/statuses/${part(sha)}`, body, answer: nothing });
    },
  };
}

export const forgePullRequest = pullRequestFields;
/** With what the credential itself may do there; missing where the host does not say. */
export const listedRepository = z.intersection(
  repositoryFields,
  fields({ permissions: maybe(fields({ admin: flag, push: flag })) }),
);

/** @param repository that it is in. */
export function pullRequestOf(from: z.output<typeof forgePullRequest>, repository: FullName): PullRequestState {
  const home = { id: from.base.repo?.id ?? '', full_name: '', private: true, default_branch: null };
  const { pullRequest, thread } = pullRequestSubject(from, home);
  if (pullRequest === null) throw new Error('a pull request has branches');
  return {
    ...pullRequest,
    thread: { key: thread.key, place: { repository, number: from.number } },
    url: thread.url,
    title: thread.title,
    body: from.body,
    state: from.merged ? 'merged' : thread.state,
    mergeable: from.mergeable,
    moments: {
      opened: dateOf(from.created_at),
      merged: from.merged ? dateOf(from.merged_at) : null,
      closed: dateOf(from.closed_at),
    },
    // Of one that is not merged GitHub names the commit of a trial.
    mergeCommits: from.merged && from.merge_commit_sha !== null ? [from.merge_commit_sha] : [],
  };
}

/**
 * An answer of the host that it does not know, or will not say, is `false`. @throws ProviderRefusal of one that is
 * away, or takes the credential for nothing.
 */
export async function confirmedBy(asked: Promise<boolean>): Promise<boolean> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ProviderRefusal && UNCONFIRMED.has(error.kind)) return false;
    throw error;
  }
}
const UNCONFIRMED: ReadonlySet<RefusalKind> = new Set(['missing', 'invalid', 'conflict', 'unreadable']);

export const cut = (body: string): string => body.slice(0, MAX_BODY);

/** The next page of a list whose pages have this length; one that is full may be followed by an empty one. */
export function pageOf<T>(items: readonly T[], page: number, length = PAGE): PageOf<T> {
  return { items, next: items.length < length ? null : String(page + 1) };
}

/** The number of a page of `pageOf`; the first for anything that is none. */
export function pageNumber(page: string | null): number {
  return page !== null && /^[1-9]\d{0,6}$/.test(page) ? Number(page) : 1;
}

function accessOf(said: string): Permission['access'] {
  return said === 'admin' || said === 'owner' ? 'admin' : said === 'write' || said === 'read' ? said : 'none';
}

export function writtenOf({ id, html_url }: z.output<typeof written>): Written {
  return { id, url: html_url };
}
