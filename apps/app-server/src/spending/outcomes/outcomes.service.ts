import { Inject, Injectable } from '@nestjs/common';
import { type Principal } from '@slipway/contracts/organizations';
import {
  type AfterMerge,
  type ConversationOutcomes,
  type ConversationOutcomesQuery,
  MAX_OUTCOME_DAYS,
  MAX_OUTCOME_ROWS,
  type OutcomeFigures,
  type Outcomes,
  type OutcomesQuery,
  type OutcomeWait,
  type UserOutcomes,
} from '@slipway/contracts/spending';
import type { SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import { afterShare, mergedShare, perPiece } from '@slipway/domain/outcomes';
import { CLOCK, SQL_POOL } from '../../platform/tokens.js';
import { daySpan } from '../usage/day-span.js';
import { type AfterSums, type OutcomeSums, readOutcomes, type WaitSums } from './outcomes.queries.js';
import { readConversationReports, readUserReports } from './reports.queries.js';

/** What an organization's work came to. Every definition is in `libs/domain/src/outcomes`. */
@Injectable()
export class OutcomesService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws SlipwayError `request.invalid` for a span that, with its defaults, is empty or too long. */
  async outcomes({ orgId }: Principal, query: OutcomesQuery): Promise<Outcomes> {
    const span = daySpan(query, this.clock.now(), MAX_OUTCOME_DAYS);
    const { user = null, repository = null, model = null, source = null, groupBy } = query;
    const { groups, total, asOf } = await readOutcomes(this.pool, orgId, {
      ...span,
      groupBy,
      user,
      repository,
      model,
      source,
    });
    return {
      ...span,
      groupBy,
      data: groups.slice(0, MAX_OUTCOME_ROWS).map((group) => ({
        day: group.day,
        user: group.user_id === null ? null : { id: group.user_id, label: group.user_label ?? group.user_id },
        repository: group.repository,
        model: group.model,
        source: group.source,
        ...figuresOf(group),
      })),
      total: figuresOf(total),
      more: groups.length > MAX_OUTCOME_ROWS,
      asOf: asOf?.toISOString() ?? null,
    };
  }

  async users({ orgId }: Principal): Promise<UserOutcomes> {
    const { users, asOf } = await readUserReports(this.pool, orgId, this.clock.now());
    return {
      data: users.slice(0, MAX_OUTCOME_ROWS).map((each) => ({
        user: { id: each.user_id, label: each.user_label },
        conversations: each.conversations,
        firstAt: each.first_at?.toISOString() ?? null,
        lastAt: each.last_at?.toISOString() ?? null,
        monthUsd: each.month_usd,
        yearUsd: each.year_usd,
        lifeUsd: each.life_usd,
        pullRequestsPublished: each.published,
        pullRequestsMerged: each.merged,
      })),
      more: users.length > MAX_OUTCOME_ROWS,
      asOf: asOf?.toISOString() ?? null,
    };
  }

  /** @throws SlipwayError `request.invalid` for a span that, with its defaults, is empty or too long. */
  async conversations({ orgId }: Principal, query: ConversationOutcomesQuery): Promise<ConversationOutcomes> {
    const span = daySpan(query, this.clock.now(), MAX_OUTCOME_DAYS);
    const { conversations, asOf } = await readConversationReports(this.pool, orgId, span);
    return {
      ...span,
      data: conversations.slice(0, MAX_OUTCOME_ROWS).map((each) => ({
        conversation: { id: each.conversation_id, title: each.title },
        user: { id: each.user_id, label: each.user_label },
        repository: each.repository,
        model: each.model,
        source: each.source,
        createdAt: each.created_at.toISOString(),
        durationMs: each.duration_ms,
        turns: each.turns,
        failedTurns: each.failed_turns,
        promptTokens: each.prompt_tokens,
        completionTokens: each.completion_tokens,
        costUsd: each.cost_usd,
        pullRequestsPublished: each.published,
        pullRequestsMerged: each.merged,
      })),
      more: conversations.length > MAX_OUTCOME_ROWS,
      asOf: asOf?.toISOString() ?? null,
    };
  }
}

function figuresOf(sums: OutcomeSums): OutcomeFigures {
  const { published, open, closed, merged } = sums;
  return {
    conversations: sums.conversations,
    turns: sums.turns,
    failedTurns: sums.failed_turns,
    pullRequests: { published, open, closed, merged, mergedShare: mergedShare({ merged, closed }) },
    humanCommits: { none: sums.human_none, some: sums.human_some, unknown: sums.human_unknown },
    reverted: afterMerge(sums.reverted),
    edited: afterMerge(sums.edited),
    revertedOrEdited: afterMerge(sums.either),
    costUsd: sums.cost,
    cost: {
      agentUsd: sums.agent,
      retriesUsd: sums.retries,
      failedTurnsUsd: sums.failed_turns_cost,
      revertedUsd: sums.reverted_cost,
    },
    costPerMergedUsd: perPiece(sums.cost, merged),
    waits: { start: waitOf(sums.start_wait), approval: waitOf(sums.approval_wait), review: waitOf(sums.review_wait) },
  };
}

function afterMerge({ early, ...counts }: AfterSums): AfterMerge {
  return { ...counts, foundEarly: early, share: afterShare(counts) };
}

function waitOf({ count, total, median, p90 }: WaitSums): OutcomeWait {
  return { count, totalMs: total, medianMs: median, p90Ms: p90 };
}
