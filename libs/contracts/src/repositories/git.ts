import { z } from 'zod';

/**
 * What agent-server and action-server say of repositories in a workspace. Names are OpenHands' where it has them; what
 * it does not have is additive.
 */

/** `GET /api/git/commits`. */
export const GitCommit = z.object({
  sha: z.string(),
  short_sha: z.string(),
  subject: z.string(),
  author: z.string(),
  /** When it was written. ISO 8601 with its own offset. */
  timestamp: z.string(),
  /** Files that it changed against its first parent. */
  files: z.int().nonnegative(),
  /** Made after the work began: not in the history of `base`. `null` when no base was named, or it is not there. */
  since_base: z.boolean().nullable(),
});
export type GitCommit = z.infer<typeof GitCommit>;

export const GitCommitsPage = z.object({
  commits: z.array(GitCommit),
  has_more: z.boolean(),
  /** Of the next page. It names the commit that the first page began at, so that new commits shift nothing. */
  next_page_id: z.string().nullable(),
});
export type GitCommitsPage = z.infer<typeof GitCommitsPage>;

/**
 * `submodule` and `worktree` have their history in another repository's folder; `bare` has no files, and `broken` is
 * none that git can read.
 */
export const GIT_REPOSITORY_KINDS = ['repository', 'worktree', 'submodule', 'bare', 'broken'] as const;
export const GIT_OPERATIONS = ['merge', 'rebase', 'cherry-pick', 'revert', 'bisect'] as const;

export const GitRepository = z.object({
  /** From the workspace; `.` is the workspace itself. */
  path: z.string(),
  kind: z.enum(GIT_REPOSITORY_KINDS),
  /** `null`: HEAD is detached. During a rebase the branch that is rebased. */
  branch: z.string().nullable(),
  /** `null`: there is no commit yet. */
  head: z.string().nullable(),
  upstream: z.string().nullable(),
  /** Commits beside the upstream; `null` without one, or when they cannot be counted. */
  ahead: z.int().nonnegative().nullable(),
  behind: z.int().nonnegative().nullable(),
  /** What has begun there and has not ended. */
  operation: z.enum(GIT_OPERATIONS).nullable(),
  /** Why its changes cannot be listed; `null` when they can. */
  problem: z.string().nullable(),
});
export type GitRepository = z.infer<typeof GitRepository>;

/** `GET /api/git/repositories`. `cut`: the search ended at its bound, and there may be more. */
export const GitRepositories = z.object({ repositories: z.array(GitRepository), cut: z.boolean() });
export type GitRepositories = z.infer<typeof GitRepositories>;

/** The only ref of a bundle that a sandbox gives away. */
export const BUNDLE_REF = 'refs/heads/slipway';
export const BUNDLE_CONTENT_TYPE = 'application/x-git-bundle';

const user = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^<>\n\0]+$/, 'has no angle brackets and is one line');
/** What a repository of the workspace has since `base`, as a git bundle of `BUNDLE_REF`. */
export const BundleRequest = z.object({
  path: z.string().min(1).max(4096),
  /** Full hash of a commit. */
  base: z.string().regex(/^[0-9a-f]{40,64}$/),
  /** Of the commit that is made of what is not committed. */
  author: z.object({ name: user, email: user }),
  message: z.string().min(1).max(10_000),
  /** Refused before its first byte when it is certainly larger. */
  max_bytes: z.int().positive(),
});
export type BundleRequest = z.infer<typeof BundleRequest>;

/** `POST /git/mark` of action-server: remembers what the repositories hold, as the beginning of a turn. */
export const MarkTurnRequest = z.object({
  /** Whose turn it is: an id of a conversation. */
  turn: z.string().regex(/^[A-Za-z0-9-]{1,64}$/, 'letters, digits and -, at most 64'),
});
