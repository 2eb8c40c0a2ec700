import type { AlertGroup } from '../alert.ts';
import { gauge, pair, quantile, rate } from '../query.ts';

export const conversations: AlertGroup = {
  name: 'conversations',
  alerts: [
    {
      name: 'SlipwayStartsWaiting',
      severity: 'critical',
      lasting: '2m',
      query: gauge('max', 'outbox_oldest_seconds', {
        where: { queue: { in: ['conversation-start', 'conversation-deliver'] } },
      }),
      comparator: '>',
      threshold: 900,
      summary:
        'A conversation has waited {{ $value | humanizeDuration }} for a sandbox, or for the delivery of its message.',
    },
    {
      name: 'SlipwayPausesWaiting',
      severity: 'warning',
      lasting: '2m',
      query: gauge('max', 'outbox_oldest_seconds', {
        where: { queue: { in: ['conversation-pause', 'conversation-snapshot', 'conversation-checkpoint'] } },
        by: ['queue'],
      }),
      comparator: '>',
      threshold: 1800,
      summary: 'A job of {{ $labels.queue }} is not done after {{ $value | humanizeDuration }}.',
    },
    {
      name: 'SlipwaySweepStopped',
      severity: 'critical',
      lasting: '1m',
      // Retention is due every ten minutes, hooks every five, the others every minute or less.
      promql:
        'max by (sweep) (sweep_age_seconds{sweep!~"hooks|retention"}) > 180\n  or max by (sweep) (sweep_age_seconds{sweep=~"hooks|retention"}) > 2400',
      datadog: {
        type: 'query alert',
        query: 'min(last_1m):max:slipway.sweep_age_seconds{NOT sweep:hooks AND NOT sweep:retention} by {sweep} > 180',
        critical: 180,
      },
      summary: 'No worker has completed the sweep {{ $labels.sweep }} for {{ $value | humanizeDuration }}.',
    },
    {
      name: 'SlipwayConversationsLost',
      severity: 'critical',
      lasting: '3m',
      query: gauge('max', 'conversations_lease_over'),
      comparator: '>',
      threshold: 0,
      summary: '{{ $value }} conversations lost their sandbox and have not got another.',
    },
    {
      name: 'SlipwayStorageFull',
      severity: 'warning',
      lasting: '15m',
      query: gauge('max', 'storage_full_organizations'),
      comparator: '>',
      threshold: 0,
      summary: '{{ $value }} organizations have used up their storage: their agents are paused.',
    },
    {
      name: 'SlipwayStorageMiscounted',
      severity: 'warning',
      lasting: '2h',
      query: pair(
        'sum(increase(storage_corrected_bytes_total[1h]))',
        'sum:slipway.storage_corrected_bytes.count{*}.as_count().rollup(sum, 3600)',
      ),
      comparator: '>',
      threshold: 1_048_576,
      summary: 'Counts of storage are off by {{ $value | humanize1024 }}B an hour and are corrected again and again.',
    },
    {
      name: 'SlipwayIngestSlow',
      severity: 'warning',
      lasting: '5m',
      query: quantile(0.99, 'ingest_batch_seconds', { window: '5m' }),
      comparator: '>',
      threshold: 0.5,
      summary: 'Events of agents take {{ $value | humanizeDuration }} (p99) to be stored.',
    },
    {
      name: 'SlipwayIngestRefused',
      severity: 'warning',
      lasting: '10m',
      query: rate('ingest_refused_total', { by: ['code'], window: '5m' }),
      comparator: '>',
      threshold: 1,
      summary: 'Events of sandboxes are refused ({{ $labels.code }}), more than one batch a second.',
    },
    {
      name: 'SlipwaySocketsBehind',
      severity: 'warning',
      lasting: '5m',
      query: gauge('max', 'realtime_unsent_bytes', { by: ['job', 'instance'] }),
      comparator: '>',
      threshold: 67_108_864,
      summary: '{{ $value | humanize1024 }}B are buffered in {{ $labels.instance }} for slow browsers.',
    },
  ],
};
