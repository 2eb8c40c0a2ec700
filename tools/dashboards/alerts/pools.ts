import type { AlertGroup } from '../alert.ts';
import { gauge, over, quantile, rate } from '../query.ts';

export const pools: AlertGroup = {
  name: 'pools',
  alerts: [
    {
      name: 'SlipwayPoolEmpty',
      severity: 'warning',
      lasting: '3m',
      promql: 'max by (pool) (pool_ready_slots) == 0 and max by (pool) (pool_target_slots) > 0',
      // Where no sandbox is wanted the quotient has no value.
      datadog: {
        type: 'query alert',
        query:
          'max(last_3m):max:slipway.pool_ready_slots{*} by {pool} / max:slipway.pool_target_slots{*} by {pool} < 0.001',
        critical: 0.001,
      },
      summary: 'Pool {{ $labels.pool }} has no warm sandbox, so starts wait.',
    },
    {
      name: 'SlipwayPoolsUnled',
      severity: 'critical',
      lasting: '1m',
      query: gauge('max', 'pool_lead_age_seconds'),
      comparator: '>',
      threshold: 120,
      summary: 'No replica of runtime-api has led the pools for {{ $value | humanizeDuration }}.',
    },
    {
      name: 'SlipwayPoolProblem',
      severity: 'critical',
      lasting: '5m',
      query: gauge('max', 'pool_problem', { by: ['pool', 'code'] }),
      comparator: '==',
      threshold: 1,
      summary: 'Sandboxes of pool {{ $labels.pool }} fail to start: {{ $labels.code }}.',
    },
    {
      name: 'SlipwayWorkspacesNotKept',
      severity: 'critical',
      lasting: '2m',
      promql: 'max by (pool) (workspaces_not_kept) > 0 or (max(workspace_store_problem) == 1)',
      datadog: {
        type: 'query alert',
        query: 'min(last_2m):max:slipway.workspaces_not_kept{*} + max:slipway.workspace_store_problem{*} > 0',
        critical: 0,
      },
      summary: 'Workspaces of paused conversations cannot be saved. Their sandboxes stay, for a day at most.',
    },
    {
      name: 'SlipwayWorkspacesLost',
      severity: 'warning',
      query: gauge('max', 'workspaces_lost', { by: ['pool'] }),
      comparator: '>',
      threshold: 0,
      summary: '{{ $value }} sandboxes of pool {{ $labels.pool }} were lost within an hour with their files.',
    },
    {
      name: 'SlipwayClaimsSlow',
      severity: 'warning',
      lasting: '10m',
      query: quantile(0.95, 'pool_claim_duration_seconds', { window: '10m' }),
      comparator: '>',
      threshold: 1,
      summary: 'A warm sandbox takes {{ $value | humanizeDuration }} (p95) to be claimed.',
    },
    {
      name: 'SlipwayActivationsFailing',
      severity: 'warning',
      lasting: '10m',
      query: over(
        rate('pool_claim_total', { where: { result: 'activation-failed' }, window: '10m' }),
        rate('pool_claim_total', { where: { result: 'bound' }, window: '10m' }),
      ),
      comparator: '>',
      threshold: 0.05,
      summary: '{{ $value | humanizePercentage }} of the warm sandboxes die when they are claimed.',
    },
  ],
};
