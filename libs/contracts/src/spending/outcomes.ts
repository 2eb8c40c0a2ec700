import { z } from 'zod';

/**
 * What work came to: cost of merged pull requests, what became of them, and how long people waited.
 * `docs/operate/outcomes.md` has each definition.
 */

/** Longest span of one answer. Days. */
export const MAX_OUTCOME_DAYS = 366;
/** Most rows of one answer; `more` says that there are others. */
export const MAX_OUTCOME_ROWS = 1_000;

export const OUTCOME_DIMENSIONS = ['day', 'user', 'repository', 'model', 'source'] as const;
export type OutcomeDimension = (typeof OUTCOME_DIMENSIONS)[number];

/** What the database can be asked for: everything but NUL. */
const plain = z.string().refine((value) => !value.includes('\u0000'), 'must not contain the character NUL');

/** `repository`, `repository,source`, …: each dimension at most once. */
const GroupBy = z
  .string()
  .max(60)
  .default('repository')
  .transform((text, context) => {
    const found = text.split(',');
    const known = found.filter((each): each is OutcomeDimension =>
      (OUTCOME_DIMENSIONS as readonly string[]).includes(each),
    );
    if (known.length === found.length && new Set(known).size === known.length) return known;
    context.addIssue({ code: 'custom', message: `is a list of ${OUTCOME_DIMENSIONS.join(', ')}, each at most once` });
    return z.NEVER;
  });

const Span = z.object({
  /** First day, UTC. Absent: 29 days before `to`. */
  from: z.iso.date().optional(),
  /** Last day, UTC, included. Absent: today. */
  to: z.iso.date().optional(),
});
type Span = z.infer<typeof Span>;
const inOrder = ({ from, to }: Span): boolean => from === undefined || to === undefined || from <= to;
const isShort = ({ from, to }: Span): boolean =>
  from === undefined || to === undefined || Date.parse(to) - Date.parse(from) < MAX_OUTCOME_DAYS * 86_400_000;
const NOT_IN_ORDER = { path: ['from'], message: 'is after to' };
const TOO_LONG = { path: ['from'], message: `is more than ${MAX_OUTCOME_DAYS} days before to` };

export const OutcomesQuery = Span.extend({
  groupBy: GroupBy,
  /** Only work that this user or service account began, by id. */
  user: plain.min(1).max(200).optional(),
  /** Only this repository, as `host/owner/name`; empty: only what had none. */
  repository: plain.max(2048).optional(),
  model: plain.min(1).max(200).optional(),
  /** Only work that was begun by this: the id of a provider, `service-account` or `user`. */
  source: plain.min(1).max(60).optional(),
})
  .refine(inOrder, NOT_IN_ORDER)
  .refine(isShort, TOO_LONG);
export type OutcomesQuery = z.infer<typeof OutcomesQuery>;

const Count = z.int().nonnegative();
const Share = z.number().min(0).max(1).nullable();

/** Of merged pull requests. */
export const AfterMerge = z.object({
  /** Those whose 14 days after the merge are over and were read. */
  settled: Count,
  /** Of the settled, those that it has happened to. */
  found: Count,
  /** `found` of `settled`; `null`: none is settled. */
  share: Share,
  /** Those whose 14 days are over and could not be read: in no share. */
  unknown: Count,
  /** Those whose 14 days are not over, or not read yet: in no share. */
  pending: Count,
  /** Of the pending, those that it has happened to already. */
  foundEarly: Count,
});
export type AfterMerge = z.infer<typeof AfterMerge>;

/** Milliseconds; `null`: no wait. */
export const OutcomeWait = z.object({
  count: Count,
  totalMs: Count,
  medianMs: Count.nullable(),
  p90Ms: Count.nullable(),
});
export type OutcomeWait = z.infer<typeof OutcomeWait>;

export const OutcomeFigures = z.object({
  /** Each conversation counts once: with its first pull request, where it has one. */
  conversations: Count,
  turns: Count,
  /** Turns that ended in an error. */
  failedTurns: Count,
  pullRequests: z.object({
    published: Count,
    open: Count,
    /** Closed without being merged. */
    closed: Count,
    merged: Count,
    /** Merged among those that have ended. */
    mergedShare: Share,
  }),
  /** Merged pull requests by whether people had committed to them after our last push. */
  humanCommits: z.object({ none: Count, some: Count, unknown: Count }),
  reverted: AfterMerge,
  edited: AfterMerge,
  /** Either of the two. */
  revertedOrEdited: AfterMerge,
  /** Decimal: the sum of `cost`. Calls of models without a known price count nothing. */
  costUsd: z.string(),
  /** Decimals. */
  cost: z.object({
    /** What is in none of the others. */
    agentUsd: z.string(),
    /** Calls that the model did not answer. */
    retriesUsd: z.string(),
    /** Answered calls of turns that ended in an error. */
    failedTurnsUsd: z.string(),
    /** What would be `agentUsd`, of pull requests that were reverted. */
    revertedUsd: z.string(),
  }),
  /** `costUsd` for each merged pull request, to a millionth; `null`: none was merged. */
  costPerMergedUsd: z.string().nullable(),
  /**
   * `start`: from a conversation's first message to its agent's first event. `approval`: from a question of an agent to
   * its answer. `review`: from no draft to the first review by a user.
   */
  waits: z.object({ start: OutcomeWait, approval: OutcomeWait, review: OutcomeWait }),
});
export type OutcomeFigures = z.infer<typeof OutcomeFigures>;

const OutcomeUser = z.object({ id: z.string(), label: z.string() });

/**
 * A dimension that was not grouped by is `null`; so is the repository of work that has none, and the source of work not
 * examined yet.
 */
export const OutcomeRow = OutcomeFigures.extend({
  day: z.iso.date().nullable(),
  user: OutcomeUser.nullable(),
  repository: z.string().nullable(),
  model: z.string().nullable(),
  source: z.string().nullable(),
});
export type OutcomeRow = z.infer<typeof OutcomeRow>;

/** The dearest first; by day ascending where days are grouped. Counts and costs of all rows come to `total`. */
export const Outcomes = z.object({
  from: z.iso.date(),
  to: z.iso.date(),
  groupBy: z.array(z.enum(OUTCOME_DIMENSIONS)),
  data: z.array(OutcomeRow).max(MAX_OUTCOME_ROWS),
  total: OutcomeFigures,
  more: z.boolean(),
  /** When the ledger was last read to its end; `null`: never yet. */
  asOf: z.iso.datetime().nullable(),
});
export type Outcomes = z.infer<typeof Outcomes>;

export const UserOutcome = z.object({
  user: OutcomeUser,
  conversations: Count,
  /** When the first and the last of them were begun; `null`: there is none. */
  firstAt: z.iso.datetime().nullable(),
  lastAt: z.iso.datetime().nullable(),
  /**
   * Decimals: of this month, this year (UTC) and ever, as usage counts it: by who asked, whosever the conversation is.
   */
  monthUsd: z.string(),
  yearUsd: z.string(),
  lifeUsd: z.string(),
  /** Of conversations that the user began. */
  pullRequestsPublished: Count,
  pullRequestsMerged: Count,
});
export type UserOutcome = z.infer<typeof UserOutcome>;
/** The dearest of the year first. */
export const UserOutcomes = z.object({
  data: z.array(UserOutcome).max(MAX_OUTCOME_ROWS),
  more: z.boolean(),
  asOf: z.iso.datetime().nullable(),
});
export type UserOutcomes = z.infer<typeof UserOutcomes>;

export const ConversationOutcomesQuery = Span.refine(inOrder, NOT_IN_ORDER).refine(isShort, TOO_LONG);
export type ConversationOutcomesQuery = z.infer<typeof ConversationOutcomesQuery>;

export const ConversationOutcomeRow = z.object({
  /** `title: null`: it was deleted. */
  conversation: z.object({ id: z.uuid(), title: z.string().nullable() }),
  user: OutcomeUser,
  repository: z.string().nullable(),
  model: z.string(),
  source: z.string().nullable(),
  createdAt: z.iso.datetime(),
  /** Until its log last changed, as far as it was read; `null`: not yet. Milliseconds. */
  durationMs: Count.nullable(),
  turns: Count,
  failedTurns: Count,
  promptTokens: Count,
  completionTokens: Count,
  costUsd: z.string(),
  pullRequestsPublished: Count,
  pullRequestsMerged: Count,
});
export type ConversationOutcomeRow = z.infer<typeof ConversationOutcomeRow>;
/** Conversations that were begun in the span, the dearest first. */
export const ConversationOutcomes = z.object({
  from: z.iso.date(),
  to: z.iso.date(),
  data: z.array(ConversationOutcomeRow).max(MAX_OUTCOME_ROWS),
  more: z.boolean(),
  asOf: z.iso.datetime().nullable(),
});
export type ConversationOutcomes = z.infer<typeof ConversationOutcomes>;
