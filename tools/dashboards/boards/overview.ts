import { NOT_PROBES, OF_APPS } from '../apps.ts';
import { type Board, lines, number, row } from '../model.ts';
import { gauge, orZero, over, pair, plus, quantile, rate, top } from '../query.ts';

const failed = { where: { ...NOT_PROBES, status: { starts: '5' } } };
const ofApps =
  'job=~".+-(app-server|worker|runtime-api|llm-gateway|sandbox-gateway|web|egress-proxy|credential-broker)"';

export const overview: Board = {
  name: 'overview',
  title: 'Overview',
  rows: [
    row(
      'Now',
      number('Replicas down', 'number', pair(`sum(up{${ofApps}} == bool 0)`, ''), {
        note: 'Datadog has the monitor SlipwayReplicaDown for it.',
        grafanaOnly: true,
        thresholds: { critical: 1 },
      }),
      number(
        'Conversations that should run',
        'number',
        pair('sum(max by (start) (conversations_wanted))', 'max:slipway.conversations_wanted{*} by {start}', ['start']),
      ),
      number(
        'Oldest waiting start',
        'seconds',
        gauge('max', 'outbox_oldest_seconds', { where: { queue: 'conversation-start' } }),
        {
          thresholds: { warning: 60, critical: 900 },
        },
      ),
      number(
        'Failed requests',
        'share',
        over(
          orZero(rate('http_request_duration_seconds_count', failed)),
          rate('http_request_duration_seconds_count', { where: NOT_PROBES }),
        ),
        {
          thresholds: { warning: 0.001, critical: 0.01 },
        },
      ),
    ),
    row(
      'Is it up',
      lines(
        'Replicas up',
        'number',
        pair(`sum by (job) (up{${ofApps}})`, 'sum:slipway.nodejs_version_info{*} by {service}', ['job']),
      ),
      lines(
        'Not ready',
        'requests',
        rate('http_request_duration_seconds_count', { where: { route: '/ready', status: '503' }, by: ['job'] }),
        {
          note: 'Answers 503 of /ready: the app runs, what it needs does not.',
        },
      ),
    ),
    row(
      'Requests',
      lines('Requests', 'requests', rate('http_request_duration_seconds_count', { where: NOT_PROBES, by: ['job'] })),
      lines(
        'Requests failed on our side',
        'requests',
        rate('http_request_duration_seconds_count', { ...failed, by: ['job', 'route'] }),
      ),
      lines('Request time', 'seconds', {
        p50: quantile(0.5, 'http_request_duration_seconds', { where: NOT_PROBES }),
        p95: quantile(0.95, 'http_request_duration_seconds', { where: NOT_PROBES }),
        p99: quantile(0.99, 'http_request_duration_seconds', { where: NOT_PROBES }),
      }),
      lines(
        'Slowest routes (p95)',
        'seconds',
        top(10, quantile(0.95, 'http_request_duration_seconds', { where: NOT_PROBES, by: ['job', 'route'] })),
        {
          note: 'A stream of events counts until it is closed.',
        },
      ),
    ),
    row(
      'Processes',
      lines(
        'CPU',
        'number',
        plus(
          rate('process_cpu_user_seconds_total', { where: OF_APPS, by: ['job', 'instance'] }),
          rate('process_cpu_system_seconds_total', { where: OF_APPS, by: ['job', 'instance'] }),
        ),
        { note: 'Cores.' },
      ),
      lines(
        'Memory',
        'bytes',
        gauge('sum', 'process_resident_memory_bytes', { where: OF_APPS, by: ['job', 'instance'] }),
      ),
      lines(
        'Event loop lag (p99)',
        'seconds',
        gauge('max', 'nodejs_eventloop_lag_p99_seconds', { where: OF_APPS, by: ['job', 'instance'] }),
        {
          thresholds: { critical: 0.5 },
        },
      ),
      lines('Garbage collection', 'share', rate('nodejs_gc_duration_seconds_sum', { where: OF_APPS, by: ['job'] }), {
        note: 'Share of one core.',
      }),
    ),
  ],
};
