import type {
  AfterMerge,
  ConversationOutcomes,
  OutcomeFigures,
  OutcomeRow,
  Outcomes,
  OutcomeWait,
  UserOutcomes,
} from '@slipway/contracts/spending';
import { csv } from '../usage/csv.js';

type Cell = string | number | null;

const DIMENSIONS = {
  day: [['day'], (row: OutcomeRow) => [row.day]],
  user: [['user_id', 'user'], (row: OutcomeRow) => [row.user?.id ?? null, row.user?.label ?? null]],
  repository: [['repository'], (row: OutcomeRow) => [row.repository]],
  model: [['model'], (row: OutcomeRow) => [row.model]],
  source: [['source'], (row: OutcomeRow) => [row.source]],
} as const;

const afterColumns = (
  name: string,
  field: 'reverted' | 'edited' | 'revertedOrEdited',
): ReadonlyArray<readonly [string, (of: OutcomeFigures) => Cell]> =>
  (
    [
      ['', 'found'],
      ['_settled', 'settled'],
      ['_share', 'share'],
      ['_unknown', 'unknown'],
      ['_pending', 'pending'],
      ['_early', 'foundEarly'],
    ] as const satisfies ReadonlyArray<readonly [string, keyof AfterMerge]>
  ).map(([suffix, figure]) => [`${name}${suffix}`, (of) => of[field][figure]]);
const waitColumns = (
  name: 'start' | 'approval' | 'review',
): ReadonlyArray<readonly [string, (of: OutcomeFigures) => Cell]> =>
  (
    [
      ['waits', 'count'],
      ['wait_total_ms', 'totalMs'],
      ['wait_median_ms', 'medianMs'],
      ['wait_p90_ms', 'p90Ms'],
    ] as const satisfies ReadonlyArray<readonly [string, keyof OutcomeWait]>
  ).map(([suffix, field]) => [`${name}_${suffix}`, (of) => of.waits[name][field]]);

const FIGURES: ReadonlyArray<readonly [string, (of: OutcomeFigures) => Cell]> = [
  ['conversations', (of) => of.conversations],
  ['turns', (of) => of.turns],
  ['failed_turns', (of) => of.failedTurns],
  ['pull_requests_published', (of) => of.pullRequests.published],
  ['pull_requests_open', (of) => of.pullRequests.open],
  ['pull_requests_closed', (of) => of.pullRequests.closed],
  ['pull_requests_merged', (of) => of.pullRequests.merged],
  ['merged_share', (of) => of.pullRequests.mergedShare],
  ['merged_without_human_commits', (of) => of.humanCommits.none],
  ['merged_with_human_commits', (of) => of.humanCommits.some],
  ['merged_human_commits_unknown', (of) => of.humanCommits.unknown],
  ...afterColumns('reverted', 'reverted'),
  ...afterColumns('edited', 'edited'),
  ...afterColumns('reverted_or_edited', 'revertedOrEdited'),
  ['cost_usd', (of) => of.costUsd],
  ['cost_agent_usd', (of) => of.cost.agentUsd],
  ['cost_retries_usd', (of) => of.cost.retriesUsd],
  ['cost_failed_turns_usd', (of) => of.cost.failedTurnsUsd],
  ['cost_reverted_usd', (of) => of.cost.revertedUsd],
  ['cost_per_merged_usd', (of) => of.costPerMergedUsd],
  ...waitColumns('start'),
  ...waitColumns('approval'),
  ...waitColumns('review'),
];

/** As a table: the dimensions that are grouped by, then the figures. */
export function outcomesCsv({ groupBy, data }: Pick<Outcomes, 'groupBy' | 'data'>): string {
  return csv(
    [...groupBy.flatMap((dimension) => DIMENSIONS[dimension][0]), ...FIGURES.map(([name]) => name)],
    data.map((row) => [
      ...groupBy.flatMap((dimension) => DIMENSIONS[dimension][1](row)),
      ...FIGURES.map(([, of]) => of(row)),
    ]),
  );
}

export function userOutcomesCsv({ data }: Pick<UserOutcomes, 'data'>): string {
  return csv(
    [
      'user_id',
      'user',
      'conversations',
      'first_at',
      'last_at',
      'month_usd',
      'year_usd',
      'life_usd',
      'pull_requests_published',
      'pull_requests_merged',
    ],
    data.map((row) => [
      ...[row.user.id, row.user.label, row.conversations, row.firstAt, row.lastAt],
      ...[row.monthUsd, row.yearUsd, row.lifeUsd, row.pullRequestsPublished, row.pullRequestsMerged],
    ]),
  );
}

export function conversationOutcomesCsv({ data }: Pick<ConversationOutcomes, 'data'>): string {
  return csv(
    [
      ...[
        'conversation_id',
        'title',
        'user_id',
        'user',
        'repository',
        'model',
        'source',
        'created_at',
        'duration_ms',
        'turns',
        'failed_turns',
      ],
      ...['prompt_tokens', 'completion_tokens', 'cost_usd', 'pull_requests_published', 'pull_requests_merged'],
    ],
    data.map((row) => [
      ...[
        row.conversation.id,
        row.conversation.title,
        row.user.id,
        row.user.label,
        row.repository,
        row.model,
        row.source,
        row.createdAt,
        row.durationMs,
      ],
      ...[
        row.turns,
        row.failedTurns,
        row.promptTokens,
        row.completionTokens,
        row.costUsd,
        row.pullRequestsPublished,
        row.pullRequestsMerged,
      ],
    ]),
  );
}
