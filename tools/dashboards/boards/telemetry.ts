import { OF_APPS } from '../apps.ts';
import { type Board, lines, number, row } from '../model.ts';
import { gauge, pair, rate, total } from '../query.ts';

const ofApps =
  'job=~".+-(app-server|worker|runtime-api|llm-gateway|sandbox-gateway|web|egress-proxy|credential-broker)"';

export const telemetry: Board = {
  name: 'telemetry',
  title: 'Telemetry',
  rows: [
    row(
      'In the time shown',
      number('Scraped replicas', 'number', pair(`sum(up{${ofApps}})`, 'sum:slipway.nodejs_version_info{*}')),
      number('Spans sent', 'number', total('trace_spans_exported_total')),
      number('Failed export rounds', 'number', total('trace_export_failures_total'), {
        thresholds: { warning: 1, critical: 30 },
      }),
      number('Trace export lag', 'seconds', gauge('max', 'trace_export_lag_seconds'), {
        thresholds: { warning: 60, critical: 3600 },
      }),
    ),
    row(
      'Traces',
      lines('Spans accepted by the receiver', 'operations', rate('trace_spans_exported_total')),
      lines('Lag', 'seconds', gauge('max', 'trace_export_lag_seconds'), {
        note: 'Nothing is lost while it grows: what is due is sent when the receiver answers.',
      }),
      lines('Failed rounds', 'operations', rate('trace_export_failures_total')),
    ),
    row(
      'Analytics events',
      lines('Waiting to be sent', 'number', gauge('max', 'analytics_backlog'), {
        note: 'Nothing is lost while it grows, up to 30,000. Always 0 where no PostHog is configured.',
      }),
      lines('Sent to the receiver, by its answer', 'operations', rate('analytics_sent_total', { by: ['result'] })),
    ),
    row(
      'Metrics',
      lines('Scrape time', 'seconds', pair(`max by (job) (scrape_duration_seconds{${ofApps}})`, '', ['job']), {
        grafanaOnly: true,
      }),
      lines('Series per app', 'number', pair(`sum by (job) (scrape_samples_scraped{${ofApps}})`, '', ['job']), {
        grafanaOnly: true,
        note: 'No label holds an id of a tenant, so this does not grow with them.',
      }),
      lines(
        'Uptime',
        'seconds',
        pair(`time() - max by (job, instance) (process_start_time_seconds{${ofApps}})`, '', ['job', 'instance']),
        {
          grafanaOnly: true,
        },
      ),
      lines(
        'Event loop lag (p99)',
        'seconds',
        gauge('max', 'nodejs_eventloop_lag_p99_seconds', { where: OF_APPS, by: ['job'] }),
        {
          thresholds: { critical: 0.5 },
        },
      ),
    ),
  ],
};
