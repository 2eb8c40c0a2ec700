import { type Board, lines, number, row } from '../model.ts';
import { gauge, quantile, rate } from '../query.ts';

export const conversations: Board = {
  name: 'conversations',
  title: 'Conversations and events',
  rows: [
    row(
      'Now',
      number('Running', 'number', gauge('max', 'conversations_wanted', { where: { start: 'READY' } })),
      number('Sandbox does not answer', 'number', gauge('max', 'conversations_lease_over'), {
        thresholds: { critical: 1 },
      }),
      number('Sockets', 'number', gauge('sum', 'realtime_sockets')),
      number('Events stored', 'events', rate('ingest_events_total')),
    ),
    row(
      'Work',
      lines(
        'Conversations to run, by state of their start',
        'number',
        gauge('max', 'conversations_wanted', { by: ['start'] }),
      ),
      lines('Lease expired', 'number', gauge('max', 'conversations_lease_over'), {
        note: 'A moment of it is a sandbox that died; minutes of it are SlipwayConversationsLost.',
      }),
    ),
    row(
      'Events',
      lines('Events stored', 'events', rate('ingest_events_total', { by: ['instance'] })),
      lines(
        'A batch until its commit',
        'seconds',
        { p50: quantile(0.5, 'ingest_batch_seconds'), p99: quantile(0.99, 'ingest_batch_seconds') },
        {
          thresholds: { critical: 0.5 },
        },
      ),
      lines('Batches refused', 'operations', rate('ingest_refused_total', { by: ['code'] })),
      lines('Sockets', 'number', gauge('sum', 'realtime_sockets', { by: ['instance'] })),
      lines('Bytes buffered for slow browsers', 'bytes', gauge('sum', 'realtime_unsent_bytes', { by: ['instance'] }), {
        thresholds: { critical: 67_108_864 },
      }),
      lines('Sockets closed as too slow', 'operations', rate('realtime_slow_sockets_total')),
    ),
  ],
};
