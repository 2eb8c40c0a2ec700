import type { Actor, PullRequestRef, Thread } from '../intent.js';

/** `owner/name`; with groups in between at GitLab. */
export type FullName = string;

export interface Place {
  readonly repository: FullName;
  /** Of the pull request; of an issue, too, where the host numbers both together. */
  readonly number: number;
}

export interface Written {
  readonly id: string;
  readonly url: string | null;
}

/**
 * A user's rights in a repository, with the id that the provider has for them: the login may belong to another user by
 * now.
 */
export interface Permission {
  readonly userId: string;
  readonly access: 'admin' | 'write' | 'read' | 'none';
}

export interface PageOf<T> {
  readonly items: readonly T[];
  /** What the next page is asked for by; only the host that gave it can read it. `null`: this was the last. */
  readonly next: string | null;
}

export interface RepositoryListing {
  readonly id: string;
  readonly fullName: FullName;
  readonly private: boolean;
  readonly defaultBranch: string | null;
}

export interface PullRequestState extends PullRequestRef {
  /** Of its comments and reviews, as deliveries name it. */
  readonly thread: Pick<Thread, 'key' | 'place'>;
  readonly url: string | null;
  readonly title: string;
  readonly body: string;
  readonly state: 'open' | 'closed' | 'merged';
  /** Whether it has no conflicts with its base; `null`: the provider does not say, or not yet. */
  readonly mergeable: boolean | null;
  /** When it was opened, and when it ended, as the provider says; `null`: not yet, or it does not say. */
  readonly moments: { readonly opened: Date | null; readonly merged: Date | null; readonly closed: Date | null };
  /** Commits of its base that brought it in, as far as the provider names them. Empty until it is merged. */
  readonly mergeCommits: readonly string[];
}

/** One status or check of a commit. */
export interface CommitCheck {
  readonly id: string;
  readonly name: string;
  readonly state: 'pending' | 'success' | 'failure' | 'neutral';
  readonly description: string;
  readonly url: string | null;
}

/** What a check has written down, as far as the host gives it. */
export interface CheckLog {
  /** The end of it, which has the failure. Hostile. */
  readonly text: string;
  /** There was more before it. */
  readonly cut: boolean;
}

/** What waits for a user at a git host. */
export interface OwnWork {
  readonly kind: 'red-default-branch' | 'conflicts' | 'failing-checks' | 'unresolved-comments' | 'issue';
  readonly repository: FullName;
  /** Of the pull request or issue; `null`: it is about the default branch. */
  readonly number: number | null;
  readonly title: string;
  readonly url: string | null;
  /** The head of the pull request, or the default branch; `null`: an issue. */
  readonly branch: string | null;
  /** What the issue says. Hostile. */
  readonly text: string;
}

export interface OwnWorkList {
  readonly items: readonly OwnWork[];
  /** There may be more, which was not read. */
  readonly more: boolean;
}

/** Review comments on a pull request, in their order. */
export interface Review {
  readonly userId: string;
  readonly verdict: 'approved' | 'changes-requested' | 'commented';
  /** `null`: the host does not say. */
  readonly at?: Date | null;
  /** It is known to be of a program. */
  readonly byBot?: boolean;
}

/** A commit as a list of the host has it. */
export interface HostCommit {
  readonly sha: string;
  /** When it was committed; an author may have written it long before. */
  readonly at: Date;
  /** Whole. Hostile. */
  readonly message: string;
  readonly isMerge: boolean;
  /** Its author is known to be a program. */
  readonly byBot: boolean;
}

/** A list that has an end here although the host may have more. */
export interface Bounded<T> {
  readonly items: readonly T[];
  /** False: there are more. */
  readonly whole: boolean;
}

/** Where, and in which span, commits are searched. */
export interface CommitSpan {
  readonly branch: string;
  /** Only those that touch this file. */
  readonly path?: string;
  readonly since: Date;
  readonly until: Date;
}

/** What came to a repository, for looking back at a pull request. Each is a bounded number of requests. */
export interface RepositoryHistory {
  /**
   * Those of a branch that were committed in the span, the newest first. @param most whole pages are read until there
   * are as many.
   */
  commits(repository: FullName, span: CommitSpan, most: number): Promise<Bounded<HostCommit>>;
  /** Those of a pull request, the oldest first. */
  pullRequestCommits(place: Place): Promise<Bounded<HostCommit>>;
  /** Files that it changes, by their names before and after. */
  pullRequestFiles(place: Place): Promise<Bounded<string>>;
}

/** A folder of a commit. Some hosts find it by its hash alone, others by where it is. */
export interface FolderAt {
  /** Of the tree, or of a commit for its root. */
  readonly hash: string;
  /** `null`: not known; a host that needs it answers `missing`. The root has the path ''. */
  readonly at: { readonly commit: string; readonly path: string } | null;
}

/** Names of one folder to hashes. */
export interface HostTree {
  /** False: there are more. */
  readonly whole: boolean;
  readonly entries: ReadonlyMap<string, string>;
  /** Those of the names that are folders themselves. */
  readonly folders: ReadonlySet<string>;
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

export type ReactionTarget =
  | { readonly kind: 'subject' }
  | { readonly kind: 'comment' | 'review-comment'; readonly id: string };

/** Comments on issues and pull requests that are numbered together, as GitHub and Gitea do. */
export interface ForgeComments {
  /** Eyes. No-op when they are there. */
  react(place: Place, target: ReactionTarget): Promise<void>;
  comment(place: Place, body: string): Promise<Written>;
  updateComment(repository: FullName, commentId: string, body: string): Promise<Written>;
  /**
   * The oldest comment since then that holds `marker`: for a `comment` whose outcome is unknown. More than one request
   * where there are many.
   */
  findComment(place: Place, marker: string, since: Date): Promise<Written | null>;
}

/**
 * What is called of a git host. Throws `ProviderRefusal`; nothing is repeated here. A call is one request, or a few
 * where the host has no one request for it.
 */
export interface CodeHost {
  permissionOf(repository: FullName, actor: Pick<Actor, 'id' | 'login'>): Promise<Permission>;
  /**
   * Repositories whose rights the credential may read. @param page `null`: the first. @param query part of the name,
   * where the host can search by it; it may answer more.
   */
  repositories(page: string | null, query?: string): Promise<PageOf<RepositoryListing>>;
  branches(repository: FullName, page: string | null): Promise<PageOf<string>>;
  /** @throws ProviderRefusal `conflict` when there is one of the same branches: `findPullRequest` has it. */
  createPullRequest(repository: FullName, pull: NewPullRequest): Promise<PullRequestState>;
  /** The open one of `head` into `base`, both of this repository. */
  findPullRequest(
    repository: FullName,
    branches: { readonly head: string; readonly base: string },
  ): Promise<PullRequestState | null>;
  pullRequest(place: Place): Promise<PullRequestState>;
  updatePullRequest(
    place: Place,
    change: { readonly title?: string; readonly body?: string },
  ): Promise<PullRequestState>;
  replyToReview(place: Place, commentId: string, body: string): Promise<Written>;
  /**
   * A line comment of the pull request that holds `marker`: for a `replyToReview` whose outcome is unknown. A few
   * requests; reads the newest.
   */
  findReviewReply(place: Place, marker: string): Promise<Written | null>;
  setStatus(repository: FullName, sha: string, status: CommitStatus): Promise<void>;
  /** Only while the head is `sha`. @throws ProviderRefusal `conflict` when it may not be merged, or has moved on. */
  merge(place: Place, sha: string): Promise<void>;
  repository(fullName: FullName): Promise<RepositoryListing>;
  /** One folder. @throws ProviderRefusal `missing` when it is not there, or cannot be found by what is known of it. */
  tree(repository: FullName, folder: FolderAt): Promise<HostTree>;
  /** The text of one file, by its hash: its beginning, where it is long. */
  blob(repository: FullName, hash: string): Promise<string>;
  /**
   * Whether `of` is this commit or goes back to it. False for a commit that the host does not know, and where it does
   * not say. @param commit, of whole hashes.
   */
  isAncestor(repository: FullName, commit: string, of: string): Promise<boolean>;
  /** The newest of each name, a hundred at most. */
  checks(repository: FullName, sha: string): Promise<readonly CommitCheck[]>;
  /**
   * What a check of `checks` has written: output, annotations, log. A few requests; `null`: the host gives nothing.
   * Missing where no host keeps logs.
   */
  checkLog?(repository: FullName, check: CommitCheck): Promise<CheckLog | null>;
  /**
   * Own open pull requests with conflicts, failed checks or unresolved comments, open issues that are assigned, and
   * default branches whose checks failed. A bounded number of requests.
   * @param repositories repositories to search at a host without a search by user; others may be among what is found.
   * Missing where a host is not asked yet.
   */
  ownWork?(
    account: { readonly id: string; readonly login: string },
    repositories: readonly RepositoryListing[],
  ): Promise<OwnWorkList>;
  /** Missing where a host cannot be asked for it. */
  readonly history?: RepositoryHistory;
  /** The oldest hundred at most, without those that were dismissed. */
  reviews(repository: FullName, number: number): Promise<readonly Review[]>;
  /** Says that what a review comment asked for is done. No-op when it is resolved. */
  resolveReview(place: Place, commentId: string): Promise<void>;
}
