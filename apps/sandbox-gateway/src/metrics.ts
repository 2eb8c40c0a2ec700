import type { OpenSeats } from '@slipway/domain';
import { Counter, createMetrics, Gauge, Histogram, type Registry } from '@slipway/telemetry/http';

export interface GatewayMetrics {
  readonly registry: Registry;
  /** Requests and upgrades by how they ended: `ok`, or the code of the problem that was answered. */
  readonly requests: Counter<'kind' | 'outcome'>;
  readonly seconds: Histogram<'kind'>;
  readonly open: Gauge<'kind'>;
  /** What was open and was ended by us: its access has ended, or nothing could be learnt of it. */
  readonly cut: Counter<'why'>;
  /** Failed writes of the use of sandboxes. */
  readonly useNotNoted: Counter;
}

/** @param seats of this replica, which the limits of users and organizations count in. */
export function createGatewayMetrics(seats: Pick<OpenSeats, 'open' | 'fullest'>): GatewayMetrics {
  const registry = createMetrics('sandbox-gateway');
  const registers = [registry];
  new Gauge({
    name: 'sandbox_gateway_seats_open',
    help: 'Requests under way and sockets that count towards STREAMS_PER_USER and STREAMS_PER_ORG',
    registers,
    collect() {
      this.set(seats.open);
    },
  });
  new Gauge({
    name: 'sandbox_gateway_seats_fullest',
    help: 'Largest number that one user or one organization has on this replica; of is user or org',
    labelNames: ['of'],
    registers,
    collect() {
      const { user, org } = seats.fullest;
      this.set({ of: 'user' }, user);
      this.set({ of: 'org' }, org);
    },
  });
  return {
    registry,
    requests: new Counter({
      name: 'sandbox_gateway_requests_total',
      help: 'Requests to a sandbox; outcome is ok or the code of the refusal',
      labelNames: ['kind', 'outcome'],
      registers,
    }),
    seconds: new Histogram({
      name: 'sandbox_gateway_request_duration_seconds',
      help: 'Time from a request to the end of its answer; of a socket until it is open',
      labelNames: ['kind'],
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
      registers,
    }),
    open: new Gauge({
      name: 'sandbox_gateway_open',
      help: 'Requests under way and open sockets',
      labelNames: ['kind'],
      registers,
    }),
    cut: new Counter({
      name: 'sandbox_gateway_cut_total',
      help: 'Open requests and sockets ended by the gateway: access ended, or could not be checked within the grace period',
      labelNames: ['why'],
      registers,
    }),
    useNotNoted: new Counter({
      name: 'sandbox_gateway_use_not_noted_total',
      help: 'Failed writes of the use of sandboxes to the database; while this grows, a sandbox in use may be paused as idle',
      registers,
    }),
  };
}
