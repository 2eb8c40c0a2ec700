import { type Board, lines, number, row } from '../model.ts';
import { gauge, orZero, over, quantile, rate, total, within } from '../query.ts';

const starts = { where: { queue: 'conversation-start' } };
const failed = { where: { result: 'start-failed' } };

export const startFlow: Board = {
  name: 'start-flow',
  title: 'Start of a conversation',
  objectives: ['first-event'],
  rows: [
    row(
      'Now',
      number(
        'First event within 5 s',
        'share',
        over(within(5, 'conversation_first_event_seconds'), rate('conversation_first_event_seconds_count')),
      ),
      number('Waiting starts', 'number', gauge('max', 'outbox_jobs', starts)),
      number('Longest wait', 'seconds', gauge('max', 'outbox_oldest_seconds', starts), {
        thresholds: { warning: 60, critical: 900 },
      }),
      number(
        'Starts failed on our side, in the selected time',
        'number',
        orZero(total('conversations_ended_total', failed)),
        {
          thresholds: { warning: 1, critical: 10 },
        },
      ),
    ),
    row(
      'From the click to the first event',
      lines(
        'Until the first event',
        'seconds',
        {
          p50: quantile(0.5, 'conversation_first_event_seconds'),
          p95: quantile(0.95, 'conversation_first_event_seconds'),
          p99: quantile(0.99, 'conversation_first_event_seconds'),
        },
        { note: 'From the making of a conversation to the first event of its sandbox.', thresholds: { critical: 5 } },
      ),
      lines('Conversations with a first event', 'operations', rate('conversation_first_event_seconds_count')),
      lines(
        'Claim of a warm sandbox',
        'seconds',
        { p50: quantile(0.5, 'pool_claim_duration_seconds'), p99: quantile(0.99, 'pool_claim_duration_seconds') },
        {
          thresholds: { critical: 1 },
        },
      ),
      lines(
        'A start in the worker',
        'seconds',
        { p50: quantile(0.5, 'job_seconds', starts), p95: quantile(0.95, 'job_seconds', starts) },
        {
          note: 'From the job to the agent having its conversation: claim, repository, setup script, skills.',
        },
      ),
    ),
    row(
      'What goes wrong',
      lines(
        'Starts that failed',
        'operations',
        rate('conversations_ended_total', {
          where: { result: { in: ['start-failed', 'start-refused'] } },
          by: ['result', 'trigger'],
        }),
        {
          note: 'start-refused: by what was asked for, as a repository that is not there or a setup script that fails.',
        },
      ),
      lines('Jobs of starts, by result', 'operations', rate('jobs_total', { ...starts, by: ['result'] })),
      lines('State of starts', 'number', gauge('max', 'conversations_wanted', { by: ['start'] })),
      lines('Claims by result', 'operations', rate('pool_claim_total', { by: ['result'] })),
    ),
  ],
};
