import { z } from 'zod';

/**
 * What an organization and its people may spend on models in one cycle, a month that begins on a day of its own at
 * 00:00 UTC.
 */

/** Shares of a limit, in percent, that are notified, once a cycle each. */
export const BUDGET_THRESHOLDS = [50, 80, 90, 100] as const;
/** People of one answer; those who spent most. */
export const MAX_BUDGET_PEOPLE = 1_000;

/** Decimal USD, at most a million, at most four places. */
export const Money = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,6})(\.[0-9]{1,4})?$/, 'must be an amount such as 25 or 12.50')
  .refine((amount) => Number(amount) <= 1_000_000, 'must be at most 1000000');

const ResetDay = z.int().min(1).max(28);

/** `null`: no limit. */
const Limits = z.object({
  enabled: z.boolean(),
  resetDay: ResetDay,
  orgLimitUsd: Money.nullable(),
  memberLimitUsd: Money.nullable(),
  /**
   * Models without a price may be called where a budget limits the call, which does not see them then; else such calls
   * are refused.
   */
  allowUnpriced: z.boolean(),
});

/** Which part of a limit is spent; `blocked` as soon as `spentUsd` reaches `limitUsd`. */
const Spending = z.object({ limitUsd: z.string().nullable(), spentUsd: z.string(), blocked: z.boolean() });

export const BudgetOverride = z.object({
  user: z.object({ id: z.string(), label: z.string() }),
  /** `null`: this user's spending has no limit of its own; the organization's holds for them as for all users. */
  limitUsd: z.string().nullable(),
  changedAt: z.iso.datetime(),
  changedBy: z.string(),
});
export type BudgetOverride = z.infer<typeof BudgetOverride>;

export const BudgetUser = Spending.extend({
  user: z.object({ id: z.string(), label: z.string() }),
  source: z.enum(['default', 'override']),
});
export type BudgetUser = z.infer<typeof BudgetUser>;

export const Budgets = Limits.extend({
  /** Counts changes: the ETag, without its quotes. */
  version: z.int().nonnegative(),
  cycle: z.object({ start: z.iso.datetime(), end: z.iso.datetime() }),
  org: Spending,
  /** Members and whoever else spent in this cycle, who spent most first. */
  people: z.array(BudgetUser),
  /** There are more than are listed. */
  more: z.boolean(),
  overrides: z.array(BudgetOverride),
  /** When spending was last counted; `null`: never yet. */
  asOf: z.iso.datetime().nullable(),
});
export type Budgets = z.infer<typeof Budgets>;

/** What is absent stays as it is. */
export const ChangeBudgets = z.strictObject({
  enabled: z.boolean().optional(),
  resetDay: ResetDay.optional(),
  orgLimitUsd: Money.nullable().optional(),
  memberLimitUsd: Money.nullable().optional(),
  allowUnpriced: z.boolean().optional(),
});
export type ChangeBudgets = z.infer<typeof ChangeBudgets>;

/** `limitUsd: null`: no limit of their own. */
export const PutBudgetOverride = z.strictObject({ limitUsd: Money.nullable() });
export type PutBudgetOverride = z.infer<typeof PutBudgetOverride>;

/** `none` is what `null` is in a body. */
const QueryMoney = z.union([z.literal('none').transform(() => null), Money]);

/**
 * Preview of a change; absent fields stay. `user` with `userLimitUsd`: an override of that user; `inherit`: none any
 * more.
 */
export const BudgetPreviewQuery = z
  .object({
    enabled: z
      .enum(['true', 'false'])
      .transform((value) => value === 'true')
      .optional(),
    resetDay: z.coerce.number().int().min(1).max(28).optional(),
    orgLimitUsd: QueryMoney.optional(),
    memberLimitUsd: QueryMoney.optional(),
    user: z
      .string()
      .regex(/^[\w-]{1,100}$/, 'is no id')
      .optional(),
    userLimitUsd: z.union([z.literal('inherit'), QueryMoney]).optional(),
  })
  .refine(({ user, userLimitUsd }) => (user === undefined) === (userLimitUsd === undefined), {
    path: ['userLimitUsd'],
    message: 'goes with user',
  });
export type BudgetPreviewQuery = z.infer<typeof BudgetPreviewQuery>;

const People = z.array(z.object({ id: z.string(), label: z.string() }));
export const BudgetPreview = z.object({
  cycle: z.object({ start: z.iso.datetime(), end: z.iso.datetime() }),
  orgBlocked: z.boolean(),
  /** How many people could not start or go on: by their own limit, or all by the organization's. */
  blockedPeople: z.int().nonnegative(),
  /** Who would be blocked by their own limit and is not now, and the other way round; at most 100 each. */
  newlyBlocked: People,
  newlyFree: People,
});
export type BudgetPreview = z.infer<typeof BudgetPreview>;

/** That a share of a limit is spent. `user` is `null` for the organization's own limit. */
export const BudgetNotice = z.object({
  id: z.uuid(),
  user: z.object({ id: z.string(), label: z.string() }).nullable(),
  threshold: z.union([z.literal(50), z.literal(80), z.literal(90), z.literal(100)]),
  spentUsd: z.string(),
  limitUsd: z.string(),
  cycle: z.object({ start: z.iso.datetime(), end: z.iso.datetime() }),
  createdAt: z.iso.datetime(),
});
export type BudgetNotice = z.infer<typeof BudgetNotice>;
