import { Counter, createMetrics, Gauge, Histogram, type Registry } from '@slipway/telemetry/http';

export interface BrokerMetrics {
  readonly registry: Registry;
  /** Requests by how they ended: `passed`, or the reason. No host is a label: their number is unbounded. */
  readonly requests: Counter<'outcome'>;
  /** First lines that were not those of egress-proxy, and handshakes that failed. */
  readonly refusedConnections: Counter<'why'>;
  readonly open: Gauge;
  readonly bytes: Counter<'direction'>;
  /** Until the head of a request is on its way to the host. */
  readonly seconds: Histogram;
  readonly tokens: Counter<'outcome'>;
  readonly reflected: Counter;
  readonly cut: Counter<'why'>;
}

export function createBrokerMetrics(): BrokerMetrics {
  const registry = createMetrics('credential-broker');
  const registers = [registry];
  const bytes = new Counter({
    name: 'broker_bytes_total',
    help: 'Bytes to hosts (out) and from them (in), counted when a connection ends',
    labelNames: ['direction'],
    registers,
  });
  for (const direction of ['out', 'in']) bytes.inc({ direction }, 0);
  return {
    registry,
    requests: new Counter({
      name: 'broker_requests_total',
      help: 'Requests of sandboxes; outcome is passed or the reason of the refusal',
      labelNames: ['outcome'],
      registers,
    }),
    refusedConnections: new Counter({
      name: 'broker_refused_connections_total',
      help: 'Connections closed before a request: line, limit, server-name, handshake, malformed',
      labelNames: ['why'],
      registers,
    }),
    open: new Gauge({ name: 'broker_open', help: 'Open connections of sandboxes', registers }),
    bytes,
    seconds: new Histogram({
      name: 'broker_judge_duration_seconds',
      help: 'Time from the head of a request to its head on the way to the host, without the connection',
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3],
      registers,
    }),
    tokens: new Counter({
      name: 'broker_access_tokens_total',
      help: 'Access tokens that other servers were asked for; outcome is issued, rejected or unreachable',
      labelNames: ['outcome'],
      registers,
    }),
    reflected: new Counter({
      name: 'credential_reflected_total',
      help: 'Values that a host has sent back and that were masked',
      registers,
    }),
    cut: new Counter({
      name: 'broker_cut_total',
      help: 'Connections ended by the broker: revoked, undecided, stopping',
      labelNames: ['why'],
      registers,
    }),
  };
}
