import { NOT_PROBES, OF_APPS } from '../apps.ts';
import { type Board, lines, row } from '../model.ts';
import { gauge, quantile, rate } from '../query.ts';

export const data: Board = {
  name: 'data',
  title: 'Database',
  rows: [
    row(
      'Writes',
      lines(
        'Batches of events: until their commit',
        'seconds',
        { p50: quantile(0.5, 'ingest_batch_seconds'), p99: quantile(0.99, 'ingest_batch_seconds') },
        {
          note: 'The disk of Postgres is in every one of them. Postgres and Redis have exporters of their own.',
          thresholds: { critical: 0.5 },
        },
      ),
      lines('Events stored', 'events', rate('ingest_events_total')),
      lines(
        'Apps whose database, queue or cluster is away',
        'requests',
        rate('http_request_duration_seconds_count', { where: { route: '/ready', status: '503' }, by: ['job'] }),
      ),
      lines('Calls waiting for the ledger', 'number', gauge('sum', 'llm_ledger_pending', { by: ['instance'] })),
    ),
    row(
      'Connections',
      lines('Requests waiting for a connection', 'number', gauge('sum', 'db_pool_waiting', { by: ['job', 'pool'] }), {
        thresholds: { warning: 1, critical: 20 },
      }),
      lines('Wait for a connection (p99)', 'seconds', quantile(0.99, 'db_pool_wait_seconds', { by: ['job', 'pool'] }), {
        thresholds: { critical: 0.5 },
      }),
      lines('Connections', 'number', gauge('sum', 'db_pool_connections', { by: ['job', 'pool', 'state'] })),
      lines('Statements refused by Postgres', 'operations', rate('db_denied_total', { by: ['job'] }), {
        note: 'The slowest statements are in pg_stat_statements: no series names a statement.',
        thresholds: { critical: 0.001 },
      }),
    ),
    row(
      'Storage',
      lines('Storage of all organizations', 'bytes', gauge('max', 'storage_used_bytes')),
      lines('Fullest organization, share of its limit', 'share', gauge('max', 'storage_fullest_ratio'), {
        thresholds: { warning: 0.8, critical: 1 },
      }),
    ),
    row(
      'Processes',
      lines('Requests', 'requests', rate('http_request_duration_seconds_count', { where: NOT_PROBES, by: ['job'] })),
      lines(
        'Open files and connections',
        'number',
        gauge('sum', 'process_open_fds', { where: OF_APPS, by: ['job', 'instance'] }),
        {
          note: 'Grows without end when connections are lost.',
        },
      ),
      lines('Heap', 'bytes', gauge('sum', 'nodejs_heap_size_used_bytes', { where: OF_APPS, by: ['job', 'instance'] })),
      lines('Time since each sweep', 'seconds', gauge('max', 'sweep_age_seconds', { by: ['sweep'] })),
    ),
  ],
};
