import type { AlertGroup } from '../alert.ts';
import { APPS, NOT_PROBES, OPTIONAL_APPS } from '../apps.ts';
import { gauge, over, rate } from '../query.ts';

const absent = APPS.map((app) =>
  OPTIONAL_APPS.includes(app)
    ? `label_replace(max(up{job=~".+-${app}"}) == 0, "app", "${app}", "", "")`
    : `label_replace(absent(up{job=~".+-${app}"} == 1), "app", "${app}", "", "")`,
).join('\nor ');

export const availability: AlertGroup = {
  name: 'availability',
  alerts: [
    {
      name: 'SlipwayAppDown',
      severity: 'critical',
      lasting: '1m',
      promql: absent,
      // An app that is not there sends nothing: that is what is asked for.
      datadog: {
        type: 'query alert',
        query: 'max(last_5m):sum:slipway.nodejs_version_info{*} by {service} < 1',
        critical: 1,
        notifyNoData: true,
      },
      summary: 'No replica of {{ $labels.app }} answers Prometheus.',
    },
    {
      name: 'SlipwayReplicaDown',
      severity: 'warning',
      lasting: '10m',
      promql: `up{job=~".+-(${[...APPS.filter((app) => app !== 'web'), 'web'].join('|')})"} == 0`,
      datadog: {
        type: 'service check',
        query: '"slipway.openmetrics.health".over("*").by("service","pod_name").last(6).count_by_status()',
        critical: 5,
      },
      summary: '{{ $labels.instance }} of {{ $labels.job }} has not answered for ten minutes.',
    },
    {
      name: 'SlipwayNotReady',
      severity: 'critical',
      lasting: '2m',
      query: rate('http_request_duration_seconds_count', {
        where: { route: '/ready', status: '503' },
        by: ['job'],
        window: '2m',
      }),
      comparator: '>',
      threshold: 0,
      summary: '{{ $labels.job }} runs and cannot work: its database, queue or cluster is away.',
    },
    {
      name: 'SlipwayRestarting',
      severity: 'warning',
      promql: `sum by (job) (changes(process_start_time_seconds{job=~".+-(${APPS.filter((app) => app !== 'web').join('|')})"}[30m])) > 3`,
      // Of the agent's own check of containers.
      datadog: {
        type: 'query alert',
        query: 'change(max(last_30m),last_30m):sum:kubernetes.containers.restarts{service:slipway-*} by {service} > 3',
        critical: 3,
      },
      summary: '{{ $labels.job }} has started {{ $value }} times in half an hour.',
    },
    {
      name: 'SlipwayServerErrors',
      severity: 'critical',
      lasting: '5m',
      query: over(
        rate('http_request_duration_seconds_count', {
          where: { status: { starts: '5' }, route: { not: ['/ready'] } },
          by: ['job'],
          window: '5m',
        }),
        rate('http_request_duration_seconds_count', { where: NOT_PROBES, by: ['job'], window: '5m' }),
      ),
      comparator: '>',
      threshold: 0.01,
      summary: '{{ $value | humanizePercentage }} of the requests to {{ $labels.job }} fail on our side.',
    },
    {
      name: 'SlipwayEventLoopBlocked',
      severity: 'warning',
      lasting: '5m',
      query: gauge('max', 'nodejs_eventloop_lag_p99_seconds', { by: ['job', 'instance'] }),
      comparator: '>',
      threshold: 0.5,
      summary:
        '{{ $labels.instance }} of {{ $labels.job }} answers {{ $value | humanizeDuration }} late: too little CPU, or too much work.',
    },
  ],
};
