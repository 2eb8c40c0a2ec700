import { Inject, Injectable } from '@nestjs/common';
import { type Principal } from '@slipway/contracts/organizations';
import {
  type BudgetNotice,
  type BudgetOverride,
  type BudgetPreview,
  type BudgetPreviewQuery,
  type Budgets,
  type ChangeBudgets,
  MAX_BUDGET_PEOPLE,
} from '@slipway/contracts/spending';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { auditOf } from '../../audit/audit-statement.js';
import { readCursor, writeCursor } from '../../conversations/conversation-cursor.js';
import { CLOCK, IDS, SQL_POOL } from '../../platform/tokens.js';
import { countedAt } from '../usage/usage.queries.js';
import {
  type BudgetRow,
  compareBlocked,
  cycleOf,
  deleteOverride,
  lockBudget,
  mayHaveOverride,
  type OverrideRow,
  putOverride,
  readBudget,
  readNotices,
  readOverrides,
  readSpending,
  settleBudget,
  writeBudget,
} from './budgets.queries.js';

/** Names of a preview, at most. */
const NAMED = 100;

/**
 * Limits of what an organization and its people may spend. Every change settles in its own transaction: whom it blocks
 * is blocked when it is answered.
 */
@Injectable()
export class BudgetsService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  get(caller: Principal): Promise<Budgets> {
    return inOrg(this.pool, caller.orgId, (client) => this.read(client, caller.orgId));
  }

  /**
   * @param ifMatch ETags of what was read; without it the change applies to whatever is there. @throws SlipwayError
   * `settings.changed`
   */
  change(caller: Principal, change: ChangeBudgets, ifMatch: string | undefined): Promise<Budgets> {
    return inOrg(this.pool, caller.orgId, async (client) => {
      const before = await lockBudget(client, caller.orgId);
      if (
        ifMatch !== undefined &&
        !ifMatch.split(',').some((tag) => tag.trim() === '*' || tag.trim() === `"${before.version}"`)
      )
        throw new SlipwayError('settings.changed', 'The budgets were changed in another window or by another program.');
      const after = changed(before, change);
      const fields = differing(before, after);
      if (fields.length > 0) {
        await writeBudget(client, caller.orgId, after);
        await settleBudget(client, caller.orgId, this.clock.now());
        const only = (row: Omit<BudgetRow, 'version'>): Record<string, unknown> =>
          Object.fromEntries(fields.map((field) => [field, row[field]]));
        await client.query(
          auditOf(this.ids.uuid(), caller, {
            action: 'budget.update',
            target: caller.orgId,
            before: only(before),
            after: only(after),
          }),
        );
      }
      return this.read(client, caller.orgId);
    });
  }

  preview(caller: Principal, query: BudgetPreviewQuery): Promise<BudgetPreview> {
    const now = this.clock.now();
    return inOrg(this.pool, caller.orgId, async (client) => {
      const before = await readBudget(client, caller.orgId);
      const after = changed(before, query);
      const override =
        query.user === undefined || query.userLimitUsd === undefined
          ? null
          : query.userLimitUsd === 'inherit'
            ? { user: query.user, limit: null, inherit: true }
            : { user: query.user, limit: query.userLimitUsd, inherit: false };
      const blocked = await compareBlocked(client, caller.orgId, { now, from: before, to: after, override });
      const { start, end } = await cycleOf(client, after.reset_day, now);
      const people = blocked.filter(({ user_id }) => user_id !== '');
      const orgBlocked = blocked.some(({ user_id, after: then }) => user_id === '' && then);
      const everybody = orgBlocked ? (await readSpending(client, caller.orgId, now, after)).length - 1 : 0;
      const named = (which: typeof people): BudgetPreview['newlyBlocked'] =>
        which.slice(0, NAMED).map(({ user_id, label }) => ({ id: user_id, label }));
      return {
        cycle: { start: start.toISOString(), end: end.toISOString() },
        orgBlocked,
        blockedPeople: orgBlocked ? everybody : people.filter(({ after: then }) => then).length,
        newlyBlocked: named(people.filter((each) => each.after && !each.before)),
        newlyFree: named(people.filter((each) => each.before && !each.after)),
      };
    });
  }

  /**
   * @throws SlipwayError `resource.not-found` when the user is neither a member nor a service account of the
   * organization.
   */
  putOverride(caller: Principal, user: string, limit: string | null): Promise<BudgetOverride> {
    return inOrg(this.pool, caller.orgId, async (client) => {
      if (!(await mayHaveOverride(client, caller.orgId, user))) throw notFound();
      await lockBudget(client, caller.orgId);
      const [before] = await readOverrides(client, caller.orgId, user);
      await putOverride(client, caller.orgId, { user, limit, changedBy: caller.actor.label });
      await settleBudget(client, caller.orgId, this.clock.now());
      const [after] = await readOverrides(client, caller.orgId, user);
      if (after === undefined) throw new Error('an override that was stored is not there');
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'budget.override',
          target: user,
          ...(before === undefined ? {} : { before: { limitUsd: before.limit_usd } }),
          after: { limitUsd: after.limit_usd },
        }),
      );
      return toOverride(after);
    });
  }

  /** Also of a former member. Repeatable. */
  deleteOverride(caller: Principal, user: string): Promise<void> {
    return inOrg(this.pool, caller.orgId, async (client) => {
      const [before] = await readOverrides(client, caller.orgId, user);
      if (before === undefined) {
        if (await mayHaveOverride(client, caller.orgId, user)) return;
        throw notFound();
      }
      await lockBudget(client, caller.orgId);
      await deleteOverride(client, caller.orgId, user);
      await settleBudget(client, caller.orgId, this.clock.now());
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'budget.inherit',
          target: user,
          before: { limitUsd: before.limit_usd },
        }),
      );
    });
  }

  async notices(
    caller: Principal,
    query: { limit: number; cursor?: string | undefined },
  ): Promise<{ data: BudgetNotice[]; page: { nextCursor: string | null } }> {
    const after = query.cursor === undefined ? null : readCursor(query.cursor);
    const rows = await inOrg(this.pool, caller.orgId, (client) =>
      readNotices(client, caller.orgId, after, query.limit + 1),
    );
    const data = rows.slice(0, query.limit).map((row) => ({
      id: row.id,
      user: row.user_id === '' ? null : { id: row.user_id, label: row.label },
      threshold: row.threshold,
      spentUsd: row.spent_usd,
      limitUsd: row.limit_usd,
      cycle: { start: row.start.toISOString(), end: row.end.toISOString() },
      createdAt: row.created_at.toISOString(),
    }));
    const last = data.at(-1);
    return {
      data,
      page: {
        nextCursor:
          rows.length > query.limit && last !== undefined
            ? writeCursor({ createdAt: last.createdAt, id: last.id })
            : null,
      },
    };
  }

  private async read(client: PoolClient, orgId: string): Promise<Budgets> {
    const now = this.clock.now();
    const budget = await readBudget(client, orgId);
    const { start, end } = await cycleOf(client, budget.reset_day, now);
    const [org, ...people] = await readSpending(client, orgId, now, budget);
    if (org === undefined) throw new Error('the organization is not among those who spend');
    const spending = ({ limit_usd, spent_usd, blocked }: typeof org): Budgets['org'] => ({
      limitUsd: limit_usd,
      spentUsd: spent_usd,
      blocked,
    });
    return {
      version: budget.version,
      enabled: budget.enabled,
      resetDay: budget.reset_day,
      orgLimitUsd: budget.org_limit_usd,
      memberLimitUsd: budget.member_limit_usd,
      allowUnpriced: budget.allow_unpriced,
      cycle: { start: start.toISOString(), end: end.toISOString() },
      org: spending(org),
      people: people.slice(0, MAX_BUDGET_PEOPLE).map((row) => ({
        ...spending(row),
        user: { id: row.user_id, label: row.label },
        source: row.overridden ? 'override' : 'default',
      })),
      more: people.length > MAX_BUDGET_PEOPLE,
      overrides: (await readOverrides(client, orgId, null)).map(toOverride),
      asOf: (await countedAt(client))?.toISOString() ?? null,
    };
  }
}

function changed(before: BudgetRow, change: ChangeBudgets): Omit<BudgetRow, 'version'> {
  const or = <T>(value: T | undefined, present: T): T => (value === undefined ? present : value);
  return {
    enabled: or(change.enabled, before.enabled),
    reset_day: or(change.resetDay, before.reset_day),
    org_limit_usd: or(plain(change.orgLimitUsd), before.org_limit_usd),
    member_limit_usd: or(plain(change.memberLimitUsd), before.member_limit_usd),
    allow_unpriced: or(change.allowUnpriced, before.allow_unpriced),
  };
}

/** `12.50` is 12.5, as the database answers it. */
function plain<T extends string | null | undefined>(amount: T): T | string {
  return typeof amount === 'string' && amount.includes('.') ? amount.replace(/\.?0+$/, '') : amount;
}

function differing(
  before: Omit<BudgetRow, 'version'>,
  after: Omit<BudgetRow, 'version'>,
): Array<keyof Omit<BudgetRow, 'version'>> {
  return (['enabled', 'reset_day', 'org_limit_usd', 'member_limit_usd', 'allow_unpriced'] as const).filter(
    (field) => before[field] !== after[field],
  );
}

function toOverride(row: OverrideRow): BudgetOverride {
  return {
    user: { id: row.user_id, label: row.label },
    limitUsd: row.limit_usd,
    changedAt: row.changed_at.toISOString(),
    changedBy: row.changed_by,
  };
}
