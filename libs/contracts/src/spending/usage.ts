import { z } from 'zod';

/**
 * What model calls used and cost, a day (UTC) at a time. The gateway's ledger is the truth; this is rolled up from it
 * within seconds.
 */

/** Longest span of one answer. Days. */
export const MAX_USAGE_DAYS = 366;
/** Most rows of one answer; `more` says that there are others, the cheapest of which were left out. */
export const MAX_USAGE_ROWS = 5_000;

export const USAGE_DIMENSIONS = ['day', 'user', 'repository', 'model', 'conversation'] as const;
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];

/** What the database can be asked for: everything but NUL. */
const plain = z.string().refine((value) => !value.includes('\u0000'), 'must not contain the character NUL');

/** `day`, `day,model`, …: each dimension at most once. */
const GroupBy = z
  .string()
  .max(60)
  .default('day')
  .transform((text, context) => {
    const found = text.split(',');
    const known = found.filter((each): each is UsageDimension =>
      (USAGE_DIMENSIONS as readonly string[]).includes(each),
    );
    if (known.length === found.length && new Set(known).size === known.length) return known;
    context.addIssue({ code: 'custom', message: `is a list of ${USAGE_DIMENSIONS.join(', ')}, each at most once` });
    return z.NEVER;
  });

export const UsageQuery = z
  .object({
    /** First day, UTC. Absent: 29 days before `to`. */
    from: z.iso.date().optional(),
    /** Last day, UTC, included. Absent: today. */
    to: z.iso.date().optional(),
    groupBy: GroupBy,
    /** Only usage of this user or service account, by id. */
    user: plain.min(1).max(200).optional(),
    /** Only this repository; empty: only what had none. */
    repository: plain.max(2048).optional(),
    model: plain.min(1).max(200).optional(),
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from <= to, {
    path: ['from'],
    message: 'is after to',
  })
  .refine(
    ({ from, to }) =>
      from === undefined || to === undefined || Date.parse(to) - Date.parse(from) < MAX_USAGE_DAYS * 86_400_000,
    {
      path: ['from'],
      message: `is more than ${MAX_USAGE_DAYS} days before to`,
    },
  );
export type UsageQuery = z.infer<typeof UsageQuery>;

const Counts = z.object({
  /** Calls that were sent to a model, whatever their end. */
  requests: z.int().nonnegative(),
  /** Those of them that the model did not answer. */
  failed: z.int().nonnegative(),
  promptTokens: z.int().nonnegative(),
  /** The part of the prompt tokens that the model read from its cache. */
  cachedTokens: z.int().nonnegative(),
  completionTokens: z.int().nonnegative(),
  /** Decimal. Calls of models without a known price count nothing here, and in `unpriced`. */
  costUsd: z.string(),
  unpriced: z.int().nonnegative(),
});

/** A dimension that was not grouped by is `null`; so is the repository of conversations that have none. */
export const UsageRow = Counts.extend({
  day: z.iso.date().nullable(),
  user: z.object({ id: z.string(), label: z.string() }).nullable(),
  repository: z.string().nullable(),
  model: z.string().nullable(),
  /** `title: null`: it was deleted. `null` among conversations: what was counted before conversations were. */
  conversation: z.object({ id: z.string(), title: z.string().nullable() }).nullable().default(null),
});
export type UsageRow = z.infer<typeof UsageRow>;

/** By day ascending where days are grouped, then the dearest first. */
export const Usage = z.object({
  from: z.iso.date(),
  to: z.iso.date(),
  groupBy: z.array(z.enum(USAGE_DIMENSIONS)),
  data: z.array(UsageRow),
  total: Counts,
  more: z.boolean(),
  /** When the roll-up last read the ledger to its end; `null`: never yet. Calls after it may be missing. */
  asOf: z.iso.datetime().nullable(),
});
export type Usage = z.infer<typeof Usage>;
