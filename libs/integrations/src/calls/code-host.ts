import type { PullRequestRef } from '../intent.js';

/** `owner/name`. */
export type FullName = string;

export interface Place {
  readonly repository: FullName;
  /** Of the issue or pull request. */
  readonly number: number;
}

export interface Written {
  readonly id: string;
  readonly url: string | null;
}

/** What somebody may do in a repository, with the id that the provider has for them: the login may have changed hands. */
export interface Permission {
  readonly userId: string;
  readonly access: 'admin' | 'write' | 'read' | 'none';
}

export interface PageOf<T> {
  readonly items: readonly T[];
  /** `null`: this was the last. */
  readonly next: number | null;
}

export interface RepositoryListing {
  readonly id: string;
  readonly fullName: FullName;
  readonly private: boolean;
  readonly defaultBranch: string | null;
}

export interface PullRequestState extends PullRequestRef {
  /** Of its comments and reviews, as deliveries name it (`Thread.key`). */
  readonly threadKey: string;
  readonly url: string | null;
  readonly title: string;
  readonly body: string;
  readonly state: 'open' | 'closed' | 'merged';
  /** Whether it has no conflicts with its base; `null`: the provider does not say, or not yet. */
  readonly mergeable: boolean | null;
}

/** One status or check of a commit. */
export interface CommitCheck {
  readonly id: string;
  readonly name: string;
  readonly state: 'pending' | 'success' | 'failure' | 'neutral';
  readonly description: string;
  readonly url: string | null;
}

/** What somebody said of a pull request, in the order in which it was said. */
export interface Review {
  readonly userId: string;
  readonly verdict: 'approved' | 'changes-requested' | 'commented';
}

/** Names of one folder to hashes. */
export interface HostTree {
  /** False: there are more. */
  readonly whole: boolean;
  readonly entries: ReadonlyMap<string, string>;
}

export interface NewPullRequest {
  readonly head: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
  readonly draft: boolean;
}

export interface CommitStatus {
  readonly state: 'pending' | 'success' | 'failure' | 'error';
  /** Names it: one of the same name replaces it. */
  readonly context: string;
  readonly description: string;
  readonly url: string;
}

export type ReactionTarget = { readonly kind: 'subject' } | { readonly kind: 'comment' | 'review-comment'; readonly id: string };

/** What is called of a git host. Each call is one request unless it says otherwise, and throws `ProviderRefusal`; none is repeated here. */
export interface CodeHost {
  /** Eyes. No-op when they are there. */
  react(place: Place, target: ReactionTarget): Promise<void>;
  comment(place: Place, body: string): Promise<Written>;
  updateComment(repository: FullName, commentId: string, body: string): Promise<Written>;
  /** The oldest comment since then that holds `marker`: for a `comment` whose outcome is unknown. More than one request where there are many. */
  findComment(place: Place, marker: string, since: Date): Promise<Written | null>;
  permissionOf(repository: FullName, login: string): Promise<Permission>;
  /** Those of which the credential may ask who has which rights, a page at a time from 1. @param query part of the name, where the host can look for it; it may answer more. */
  repositories(page: number, query?: string): Promise<PageOf<RepositoryListing>>;
  branches(repository: FullName, page: number): Promise<PageOf<string>>;
  /** @throws ProviderRefusal `conflict` when there is one of the same branches: `findPullRequest` has it. */
  createPullRequest(repository: FullName, pull: NewPullRequest): Promise<PullRequestState>;
  /** The open one of `head` into `base`, both of this repository. */
  findPullRequest(repository: FullName, branches: { readonly head: string; readonly base: string }): Promise<PullRequestState | null>;
  pullRequest(place: Place): Promise<PullRequestState>;
  updatePullRequest(place: Place, change: { readonly title?: string; readonly body?: string }): Promise<PullRequestState>;
  replyToReview(place: Place, commentId: string, body: string): Promise<Written>;
  setStatus(repository: FullName, sha: string, status: CommitStatus): Promise<void>;
  /** Only while the head is `sha`. @throws ProviderRefusal `conflict` when it may not be merged, or has moved on. */
  merge(place: Place, sha: string): Promise<void>;
  repository(fullName: FullName): Promise<RepositoryListing>;
  /** One folder. @param sha of a tree or commit. */
  tree(repository: FullName, sha: string): Promise<HostTree>;
  /** Whether `of` is this commit or goes back to it. False for a commit that the host does not know, and where it does not say. @param commit, of whole hashes. */
  isAncestor(repository: FullName, commit: string, of: string): Promise<boolean>;
  /** The newest of each name, a hundred at most. */
  checks(repository: FullName, sha: string): Promise<readonly CommitCheck[]>;
  /** The oldest hundred at most, without those that were dismissed. */
  reviews(repository: FullName, number: number): Promise<readonly Review[]>;
  /** Says that what a review comment asked for is done. No-op when it is resolved. */
  resolveReview(place: Place, commentId: string): Promise<void>;
}
