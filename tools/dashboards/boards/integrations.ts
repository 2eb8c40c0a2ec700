import { type Board, lines, number, row } from '../model.ts';
import { gauge, orZero, quantile, rate, total } from '../query.ts';

const QUEUES = [
  'integration-delivery',
  'integration-answer',
  'integration-notice',
  'integration-recovery',
  'integration-hook',
  'pull-request',
  'webhook-message',
];
const ours = { queue: { in: QUEUES } };

export const integrations: Board = {
  name: 'integrations',
  title: 'Integrations',
  rows: [
    row(
      'In the time shown',
      number('Deliveries', 'number', orZero(total('integration_deliveries_total'))),
      number('Deliveries that failed verification', 'number', orZero(total('integration_deliveries_refused_total')), {
        thresholds: { warning: 10, critical: 100 },
      }),
      number('Waiting jobs', 'number', gauge('max', 'outbox_jobs', { where: ours })),
      number('Oldest waiting job', 'seconds', gauge('max', 'outbox_oldest_seconds', { where: ours }), {
        thresholds: { warning: 300, critical: 1800 },
      }),
    ),
    row(
      'Deliveries of providers',
      lines(
        'By provider and outcome',
        'operations',
        rate('integration_deliveries_total', { by: ['provider', 'outcome'] }),
      ),
      lines(
        'Failed verification, by reason',
        'operations',
        rate('integration_deliveries_refused_total', { by: ['provider', 'reason'] }),
      ),
      lines('Time to answer', 'seconds', {
        p50: quantile(0.5, 'integration_delivery_seconds'),
        p99: quantile(0.99, 'integration_delivery_seconds'),
      }),
      lines(
        'Conversations that they ended',
        'operations',
        rate('conversations_ended_total', {
          where: { trigger: { not: ['user', 'service-account'] } },
          by: ['trigger', 'result'],
        }),
      ),
    ),
    row(
      'Work for them',
      lines('Jobs by result', 'operations', rate('jobs_total', { where: ours, by: ['queue', 'result'] })),
      lines('Job time (p95)', 'seconds', quantile(0.95, 'job_seconds', { where: ours, by: ['queue'] })),
      lines('Waiting jobs', 'number', gauge('max', 'outbox_jobs', { where: ours, by: ['queue'] })),
      lines('Age of the oldest', 'seconds', gauge('max', 'outbox_oldest_seconds', { where: ours, by: ['queue'] })),
    ),
  ],
};
