import type { AlertGroup } from '../alert.ts';
import { over, quantile, rate } from '../query.ts';

export const models: AlertGroup = {
  name: 'models',
  alerts: [
    {
      name: 'SlipwayModelErrors',
      severity: 'critical',
      lasting: '5m',
      query: over(
        rate('llm_calls_total', { where: { outcome: { not: ['ok', 'aborted'] } }, by: ['model'], window: '5m' }),
        rate('llm_calls_total', { by: ['model'], window: '5m' }),
      ),
      comparator: '>',
      threshold: 0.1,
      summary: '{{ $value | humanizePercentage }} of the calls to {{ $labels.model }} fail.',
    },
    {
      name: 'SlipwayModelSlow',
      severity: 'warning',
      lasting: '10m',
      query: quantile(0.95, 'llm_call_first_byte_seconds', { by: ['model'], window: '10m' }),
      comparator: '>',
      threshold: 60,
      summary: '{{ $labels.model }} takes {{ $value | humanizeDuration }} (p95) to its first byte.',
    },
    {
      name: 'SlipwayLedgerBehind',
      severity: 'critical',
      lasting: '5m',
      // All the time more than ten seconds' worth of calls.
      promql:
        'min by (job, instance) (min_over_time(llm_ledger_pending[10m]))\n  > 10 * sum by (job, instance) (rate(llm_calls_total[10m]))',
      datadog: {
        type: 'query alert',
        query:
          'min(last_15m):max:slipway.llm_ledger_pending{*} by {pod_name} - 10 * sum:slipway.llm_calls.count{*} by {pod_name}.as_rate() > 0',
        critical: 0,
      },
      summary: '{{ $value }} charged calls are not in the ledger, only in {{ $labels.instance }}.',
    },
    {
      name: 'SlipwayUnknownKeys',
      severity: 'warning',
      lasting: '10m',
      query: rate('llm_key_lookups_total', { where: { result: 'unknown' }, window: '10m' }),
      comparator: '>',
      threshold: 1,
      summary: 'llm-gateway receives more than one call a second with unknown keys.',
    },
  ],
};

export const sandboxGateway: AlertGroup = {
  name: 'sandbox-gateway',
  alerts: [
    {
      name: 'SlipwaySandboxGatewayFailing',
      severity: 'critical',
      lasting: '5m',
      // What the sandboxes themselves answer, refusals for want of a right, and sandboxes that are paused are not among
      // these.
      query: over(
        rate('sandbox_gateway_requests_total', {
          where: { outcome: { in: ['sandbox.unreachable', 'service.unavailable', 'internal.unexpected'] } },
          window: '5m',
        }),
        rate('sandbox_gateway_requests_total', { window: '5m' }),
      ),
      comparator: '>',
      threshold: 0.1,
      summary: '{{ $value | humanizePercentage }} of the requests through sandbox-gateway fail to reach their sandbox.',
    },
  ],
};
