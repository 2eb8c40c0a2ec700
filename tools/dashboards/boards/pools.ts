import { type Board, lines, number, row } from '../model.ts';
import { gauge, over, pair, quantile, rate, within } from '../query.ts';

const waiting = { where: { queue: 'conversation-start' } };

export const pools: Board = {
  name: 'pools',
  title: 'Pool and queue',
  rows: [
    row(
      'Now',
      number(
        'Warm now',
        'number',
        pair('sum(max by (pool) (pool_ready_slots))', 'max:slipway.pool_ready_slots{*} by {pool}', ['pool']),
      ),
      number(
        'Warm target',
        'number',
        pair('sum(max by (pool) (pool_target_slots))', 'max:slipway.pool_target_slots{*} by {pool}', ['pool']),
      ),
      number(
        'Pools with a problem',
        'number',
        pair('count(max by (pool) (pool_problem) == 1) or vector(0)', 'sum:slipway.pool_problem{*}'),
        {
          thresholds: { critical: 1 },
        },
      ),
      number(
        'Claims under a second',
        'share',
        over(within(1, 'pool_claim_duration_seconds'), rate('pool_claim_duration_seconds_count')),
      ),
    ),
    row(
      'Pool',
      lines('Warm, starting, target', 'number', {
        warm: gauge('max', 'pool_ready_slots', { by: ['pool'] }),
        'warm and starting': gauge('max', 'pool_blank_slots', { by: ['pool'] }),
        wanted: gauge('max', 'pool_target_slots', { by: ['pool'] }),
      }),
      lines('Problems', 'number', gauge('max', 'pool_problem', { by: ['pool', 'code'] })),
      lines('Claims by result', 'operations', rate('pool_claim_total', { by: ['result'] })),
      lines(
        'Time from the request to an activated sandbox',
        'seconds',
        {
          p50: quantile(0.5, 'pool_claim_duration_seconds'),
          p95: quantile(0.95, 'pool_claim_duration_seconds'),
          p99: quantile(0.99, 'pool_claim_duration_seconds'),
        },
        { thresholds: { critical: 1 } },
      ),
    ),
    row(
      'Queue',
      lines('Waiting starts', 'number', gauge('max', 'outbox_jobs', waiting)),
      lines('Longest wait', 'seconds', gauge('max', 'outbox_oldest_seconds', waiting), {
        thresholds: { warning: 60, critical: 900 },
      }),
      lines('Waiting jobs', 'number', gauge('max', 'outbox_jobs', { by: ['queue'] })),
      lines('Age of the oldest', 'seconds', gauge('max', 'outbox_oldest_seconds', { by: ['queue'] })),
      lines(
        'Failed jobs, will retry',
        'operations',
        rate('jobs_total', { where: { result: 'failed' }, by: ['queue'] }),
      ),
      lines('Job time (p95)', 'seconds', quantile(0.95, 'job_seconds', { by: ['queue'] })),
    ),
  ],
};
