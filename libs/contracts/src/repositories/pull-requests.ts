import { z } from 'zod';

/** What a conversation has published: a branch at a git host, and the pull request of it. */

/** `none`: the branch has none yet. */
export const PULL_REQUEST_STATES = ['none', 'open', 'closed', 'merged'] as const;
export const PullRequestStatus = z.enum(PULL_REQUEST_STATES);
export type PullRequestStatus = z.infer<typeof PullRequestStatus>;

export const CHECK_STATES = ['pending', 'success', 'failure', 'neutral'] as const;
export const CheckState = z.enum(CHECK_STATES);
export type CheckState = z.infer<typeof CheckState>;

/** One check, status or workflow of the head commit. */
export const PullRequestCheck = z.object({
  /** Unique among the checks of a commit; names it in paths. */
  id: z.string(),
  name: z.string(),
  state: CheckState,
  description: z.string(),
  url: z.string().nullable(),
});
export type PullRequestCheck = z.infer<typeof PullRequestCheck>;

/** Most checks that are kept of a commit. */
export const MAX_CHECKS = 100;
/** Most failed checks that one message is about: each brings its log. */
export const MAX_FIXED_CHECKS = 5;

/** All checks together: one that failed outweighs one that is pending. */
export const ChecksSummary = z.object({
  /** `none`: the commit has no check. */
  state: z.enum([...CHECK_STATES, 'none']),
  pending: z.int().nonnegative(),
  failed: z.int().nonnegative(),
  passed: z.int().nonnegative(),
});
export type ChecksSummary = z.infer<typeof ChecksSummary>;

/** Why Slipway has stopped to have failed checks fixed by itself, as a sentence for the card. */
export const FIX_STOPS = {
  rounds: 'It has made as many rounds by itself as the connection allows, and checks still fail.',
  unchanged: 'The agent has changed nothing in its last round, and checks still fail.',
  'no-write-access': 'Who asked for the pull request may not write to the repository any more.',
  'not-published': 'What the agent changed in its last round could not be published.',
} as const satisfies Record<string, string>;
export type FixStop = keyof typeof FIX_STOPS;

/** What the agent was last asked to mend of a pull request. */
export const PullRequestFix = z.object({
  what: z.enum(['checks', 'conflicts']),
  /** `queued`: the message is being made. `asked`: the agent has it. */
  state: z.enum(['queued', 'asked']),
  /** Slipway asked by itself, as the connection's settings say. */
  automatic: z.boolean(),
  at: z.iso.datetime(),
});
export type PullRequestFix = z.infer<typeof PullRequestFix>;

export const REVIEW_STATES = ['none', 'commented', 'approved', 'changes-requested'] as const;
export const ReviewState = z.enum(REVIEW_STATES);
export type ReviewState = z.infer<typeof ReviewState>;

/** `queued`: asked for, and not done yet. `waiting`: the provider is away or limits calls; it is tried again. */
export const PUBLISH_STATES = ['queued', 'waiting', 'done', 'failed'] as const;

/** Why the last publish or merge did not happen: an error code with its title, next step, and what was found. */
export const PullRequestProblem = z.object({
  code: z.string(),
  title: z.string(),
  detail: z.string(),
  nextStep: z.string(),
  at: z.iso.datetime(),
  /**
   * Of `pull-request.protected-paths`: names what stands at the protected paths now. Goes back with
   * `allowProtectedPaths`.
   */
  protectedChanges: z.string().nullable().default(null),
});
export type PullRequestProblem = z.infer<typeof PullRequestProblem>;

/** The one pull request of a conversation and its repository; also the value of an event with key `pull_request`. */
export const PullRequest = z.object({
  id: z.uuid(),
  conversationId: z.uuid(),
  /** `null`: the connection is deleted. */
  connectionId: z.string().nullable(),
  provider: z.string(),
  host: z.string(),
  /** `owner/name`. */
  repository: z.string(),
  /** `null` until it is opened. */
  number: z.int().positive().nullable(),
  url: z.string().nullable(),
  title: z.string(),
  branch: z.string().nullable(),
  base: z.string().nullable(),
  /** The commit that is published. */
  headSha: z.string().nullable(),
  state: PullRequestStatus,
  draft: z.boolean(),
  checks: ChecksSummary,
  review: ReviewState,
  /** `null`: the provider does not say, or not yet. */
  conflicts: z.boolean().nullable(),
  publish: z.enum(PUBLISH_STATES),
  /** `null`: no merge was asked for. `queued`: it is on its way. */
  merge: z.enum(['queued', 'done', 'refused']).nullable(),
  problem: PullRequestProblem.nullable(),
  fix: PullRequestFix.nullable().default(null),
  /** Rounds that Slipway has made by itself on failed checks. */
  fixRounds: z.int().nonnegative().default(0),
  /** Why it makes no more of them; `null`: it has not stopped. */
  fixStopped: z
    .object({ code: z.enum(Object.keys(FIX_STOPS) as [FixStop, ...FixStop[]]), text: z.string() })
    .nullable()
    .default(null),
  publishedAt: z.iso.datetime().nullable(),
  /** When the provider was last asked. */
  refreshedAt: z.iso.datetime().nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});
export type PullRequest = z.infer<typeof PullRequest>;

/** There is at most one of a repository. */
export const PullRequestList = z.object({ data: z.array(PullRequest) });
export type PullRequestList = z.infer<typeof PullRequestList>;

const title = z.string().trim().min(1).max(250);

/**
 * Publishes what the workspace holds now. Asked again, the same pull request gets what is new; title and body only
 * where they are given.
 */
export const PublishPullRequest = z.strictObject({
  /** Of a new one, not given: the conversation's. */
  title: title.optional(),
  /** Of a new one, not given: what the agent said last. Markdown. */
  body: z.string().max(60_000).optional(),
  /**
   * Of a new one: the branch that it goes into. Not given: the one that the conversation began from, else the
   * repository's default.
   */
  base: z
    .string()
    .min(1)
    .max(200)
    .regex(/^[\w][\w./-]*$/, 'is no name of a branch')
    .optional(),
  /** Of a new one. */
  draft: z.boolean().default(true),
  /** A user has reviewed changes of CI, owners or agents' instructions; without it these are not published. */
  allowProtectedPaths: z.boolean().default(false),
  /**
   * `protectedChanges` of the problem that the user has seen: the permission is for these changes. If the agent has
   * changed them since, nothing is published and the problem is reported again. Under four eyes a permission without it
   * is refused.
   */
  protectedChanges: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'is none of a problem')
    .optional(),
});
export type PublishPullRequest = z.infer<typeof PublishPullRequest>;

export const MergePullRequest = z.strictObject({
  /** The head that the user saw: with another one it is refused. */
  headSha: z.string().regex(/^[0-9a-f]{40,64}$/, 'is the full hash of a commit'),
});
export type MergePullRequest = z.infer<typeof MergePullRequest>;

/** Begins to approve, as the user, at the git host: the answer says where the user consents. */
export const ApprovePullRequest = z.strictObject({ headSha: MergePullRequest.shape.headSha });
export type ApprovePullRequest = z.infer<typeof ApprovePullRequest>;

export const PullRequestChecks = z.object({
  /** The commit that the checks are of; `null`: nothing is published. */
  headSha: z.string().nullable(),
  refreshedAt: z.iso.datetime().nullable(),
  data: z.array(PullRequestCheck),
});
export type PullRequestChecks = z.infer<typeof PullRequestChecks>;

/** Asks the agent to mend what stands against the pull request, by a message to its conversation. */
export const FixPullRequest = z.strictObject({
  what: z.enum(['checks', 'conflicts']),
  /** Of `checks`: by their ids; not given: all that have failed. */
  checks: z.array(z.string().min(1).max(200)).min(1).max(MAX_FIXED_CHECKS).optional(),
});
export type FixPullRequest = z.infer<typeof FixPullRequest>;
