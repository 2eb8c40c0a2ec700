import { type Board, lines, number, row } from '../model.ts';
import { gauge, orZero, pair, quantile, rate } from '../query.ts';

const failures = { outcome: { in: ['sandbox.unreachable', 'service.unavailable', 'internal.unexpected'] } };

export const sandboxes: Board = {
  name: 'sandboxes',
  title: 'Sandboxes',
  rows: [
    row(
      'Now',
      number(
        'In use',
        'number',
        pair('sum(max by (pool) (sandboxes{state="active"}))', 'max:slipway.sandboxes{state:active} by {pool}', [
          'pool',
        ]),
      ),
      number(
        'Warm',
        'number',
        pair('sum(max by (pool) (sandboxes{state="ready"}))', 'max:slipway.sandboxes{state:ready} by {pool}', ['pool']),
      ),
      number('Conversations whose sandbox does not answer', 'number', gauge('max', 'conversations_lease_over'), {
        thresholds: { critical: 1 },
      }),
      number('Lost with their files, last hour', 'number', gauge('max', 'workspaces_lost'), {
        thresholds: { critical: 1 },
      }),
    ),
    row(
      'Life',
      lines('Sandboxes by state', 'number', gauge('max', 'sandboxes', { by: ['pool', 'state'] })),
      lines('Saved workspaces', 'bytes', gauge('max', 'workspaces_kept_bytes')),
      lines(
        'Sandboxes whose workspace cannot be saved',
        'number',
        gauge('max', 'workspaces_not_kept', { by: ['pool'] }),
        { thresholds: { critical: 1 } },
      ),
      lines(
        'Organizations at their limit of saved workspaces',
        'number',
        gauge('max', 'workspaces_full_organizations'),
      ),
    ),
    row(
      'Into sandboxes: sandbox-gateway',
      lines('Requests into sandboxes', 'requests', rate('sandbox_gateway_requests_total', { by: ['kind', 'outcome'] })),
      lines('Request time', 'seconds', {
        p50: quantile(0.5, 'sandbox_gateway_request_duration_seconds', { by: ['kind'] }),
        p99: quantile(0.99, 'sandbox_gateway_request_duration_seconds', { by: ['kind'] }),
      }),
      lines(
        'Requests that failed before a sandbox',
        'requests',
        orZero(rate('sandbox_gateway_requests_total', { where: failures })),
      ),
      lines('Open requests and sockets', 'number', gauge('sum', 'sandbox_gateway_open', { by: ['kind'] })),
    ),
    row(
      'Out of sandboxes: egress-proxy',
      lines('Requests to hosts', 'requests', rate('egress_requests_total', { by: ['egress', 'outcome'] }), {
        note: 'Only classes of sandboxes that reach names go this way.',
      }),
      lines('Connections cut', 'operations', rate('egress_cut_total', { by: ['why'] })),
      lines('Bytes', 'bytes', rate('egress_bytes_total', { by: ['direction'] })),
      lines('Time to connect', 'seconds', {
        p50: quantile(0.5, 'egress_connect_duration_seconds'),
        p99: quantile(0.99, 'egress_connect_duration_seconds'),
      }),
    ),
    row(
      'Out of sandboxes: credential-broker',
      lines('Requests to places', 'requests', rate('broker_requests_total', { by: ['outcome'] }), {
        note: 'Only hosts that have a brokered credential go this way.',
      }),
      lines('Credentials sent back by their host', 'number', rate('credential_reflected_total')),
      lines('Access tokens', 'requests', rate('broker_access_tokens_total', { by: ['outcome'] })),
      lines('Broker connections cut', 'operations', rate('broker_cut_total', { by: ['why'] })),
      lines('Time to judge a request', 'seconds', {
        p50: quantile(0.5, 'broker_judge_duration_seconds'),
        p99: quantile(0.99, 'broker_judge_duration_seconds'),
      }),
    ),
    row('Git relay', lines('Requests by outcome', 'requests', rate('git_relay_requests_total', { by: ['outcome'] }))),
  ],
};
