import { z } from 'zod';
import type { Actor, Passage, PullRequestRef, RepositoryRef, Thread } from '../intent.js';
import { fields, flag, id, list, maybe, moment, name, text, title, url } from './fields.js';

/** What GitHub, and those whose payloads follow its own, send alike. */
export const user = fields({ id, login: name, type: maybe(name) });
export const label = fields({ id, name });
export const repository = fields({ id, full_name: name, private: flag, default_branch: maybe(name) });
const common = {
  id,
  number: z.number().int().positive(),
  title,
  body: text,
  html_url: url,
  state: maybe(name),
  user: maybe(user),
  created_at: moment,
  updated_at: moment,
  labels: list(label),
  assignees: list(user),
};
export const issue = fields({ ...common, pull_request: z.unknown().optional() });
const side = fields({ ref: name, sha: maybe(name), repo: maybe(fields({ id })) });
export const pullRequest = fields({
  ...common,
  head: side,
  base: side,
  draft: flag,
  merged: flag,
  merged_at: moment,
  closed_at: moment,
  merge_commit_sha: maybe(name).catch(null),
  mergeable: z
    .boolean()
    .nullish()
    .catch(null)
    .transform((value) => value ?? null),
});
export const comment = fields({
  id,
  body: text,
  html_url: url,
  created_at: moment,
  user: maybe(user),
  performed_via_github_app: maybe(fields({ id })),
});

export type ForgeUser = z.output<typeof user>;
type ForgeIssue = z.output<typeof issue>;
type ForgePullRequest = z.output<typeof pullRequest>;
export type ForgeComment = z.output<typeof comment>;

/** An issue or pull request with what an intent says of it. */
export interface Subject {
  readonly thread: Thread;
  readonly repository: RepositoryRef;
  readonly pullRequest: PullRequestRef | null;
  readonly passage: Passage;
  /** Part of semantic keys: the moment of the change that a delivery is about. */
  readonly updatedAt: string;
}

/** An account that is gone keeps its texts. */
const GHOST: ForgeUser = { id: '0', login: 'ghost', type: null };

export function actorOf(from: ForgeUser | null): Actor {
  const { id, login, type } = from ?? GHOST;
  return { id, login, kind: type === 'Bot' || login.endsWith('[bot]') ? 'bot' : 'user' };
}

export function repositoryOf(from: z.output<typeof repository>): RepositoryRef {
  return { id: from.id, fullName: from.full_name, private: from.private, defaultBranch: from.default_branch };
}

export function issueSubject(from: ForgeIssue, of: z.output<typeof repository>): Subject {
  // A comment on a pull request carries it as an issue, without its branches.
  return subject(
    from,
    of,
    from.pull_request === null || from.pull_request === undefined ? 'issue' : 'pull-request',
    null,
  );
}

export function pullRequestSubject(from: ForgePullRequest, of: z.output<typeof repository>): Subject {
  const { head, base } = from;
  return subject(from, of, 'pull-request', {
    number: from.number,
    headBranch: head.ref,
    headSha: head.sha ?? '',
    baseBranch: base.ref,
    fork: head.repo === null || head.repo.id !== (base.repo?.id ?? of.id),
    draft: from.draft,
  });
}

function subject(
  from: ForgeIssue | ForgePullRequest,
  of: z.output<typeof repository>,
  kind: 'issue' | 'pull-request',
  ref: PullRequestRef | null,
): Subject {
  return {
    repository: repositoryOf(of),
    pullRequest: ref,
    updatedAt: from.updated_at ?? '',
    passage: {
      id: from.id,
      author: actorOf(from.user),
      text: from.body,
      createdAt: from.created_at,
      url: from.html_url,
    },
    thread: {
      kind,
      // Issues and pull requests share their numbers.
      key: `${of.id}#${from.number}`,
      place: { repository: of.full_name, number: from.number },
      url: from.html_url,
      title: from.title,
      confidential: false,
      state: from.state === 'closed' ? 'closed' : 'open',
    },
  };
}
