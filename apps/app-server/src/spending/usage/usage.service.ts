import { Inject, Injectable } from '@nestjs/common';
import { type Principal } from '@slipway/contracts/organizations';
import {
  MAX_USAGE_DAYS,
  MAX_USAGE_ROWS,
  type Usage,
  type UsageQuery,
  type UsageRow,
} from '@slipway/contracts/spending';
import type { SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import { CLOCK, SQL_POOL } from '../../platform/tokens.js';
import { csv } from './csv.js';
import { daySpan } from './day-span.js';
import { readUsage, type UsageSums } from './usage.queries.js';

/** What an organization's model calls used and cost. */
@Injectable()
export class UsageService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws SlipwayError `request.invalid` for a span that, with its defaults, is empty or too long. */
  async usage(caller: Principal, query: UsageQuery): Promise<Usage> {
    const span = daySpan(query, this.clock.now(), MAX_USAGE_DAYS);
    const { groups, total, asOf } = await readUsage(this.pool, caller.orgId, {
      ...span,
      groupBy: query.groupBy,
      user: query.user ?? null,
      repository: query.repository ?? null,
      model: query.model ?? null,
    });
    return {
      ...span,
      groupBy: query.groupBy,
      data: groups.slice(0, MAX_USAGE_ROWS).map((group) => ({
        day: group.day,
        user: group.user_id === null ? null : { id: group.user_id, label: group.user_label ?? group.user_id },
        repository: group.repository,
        model: group.model,
        conversation:
          group.conversation_id === null ? null : { id: group.conversation_id, title: group.conversation_title },
        ...countsOf(group),
      })),
      total: countsOf(total),
      more: groups.length > MAX_USAGE_ROWS,
      asOf: asOf?.toISOString() ?? null,
    };
  }
}

/** The same as a table: the dimensions that are grouped by, then the counts. */
export function usageCsv({ groupBy, data }: Usage): string {
  const cells = {
    day: [['day'], (row: UsageRow) => [row.day]],
    user: [['user_id', 'user'], (row: UsageRow) => [row.user?.id ?? null, row.user?.label ?? null]],
    repository: [['repository'], (row: UsageRow) => [row.repository]],
    model: [['model'], (row: UsageRow) => [row.model]],
    conversation: [
      ['conversation_id', 'conversation'],
      (row: UsageRow) => [row.conversation?.id ?? null, row.conversation?.title ?? null],
    ],
  } as const;
  return csv(
    [
      ...groupBy.flatMap((dimension) => cells[dimension][0]),
      'requests',
      'failed',
      'prompt_tokens',
      'cached_tokens',
      'completion_tokens',
      'cost_usd',
      'unpriced_requests',
    ],
    data.map((row) => [
      ...groupBy.flatMap((dimension) => cells[dimension][1](row)),
      row.requests,
      row.failed,
      row.promptTokens,
      row.cachedTokens,
      row.completionTokens,
      row.costUsd,
      row.unpriced,
    ]),
  );
}

function countsOf(sums: UsageSums): Usage['total'] {
  return {
    requests: sums.requests,
    failed: sums.failed,
    promptTokens: sums.prompt_tokens,
    cachedTokens: sums.cached_tokens,
    completionTokens: sums.completion_tokens,
    costUsd: sums.cost_usd,
    unpriced: sums.unpriced,
  };
}
