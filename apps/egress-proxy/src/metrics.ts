import { Counter, createMetrics, Gauge, Histogram, type Registry } from '@slipway/telemetry/http';

export interface EgressMetrics {
  readonly registry: Registry;
  /**
   * What sandboxes asked for, by how it ended: `allowed`, or the reason. No host is a label: their number is unbounded.
   */
  readonly requests: Counter<'kind' | 'egress' | 'outcome'>;
  readonly open: Gauge<'kind'>;
  readonly bytes: Counter<'direction'>;
  readonly seconds: Histogram;
  /** Connections that were ended from here, by the limit that they came to. */
  readonly cut: Counter<'why'>;
}

export function createEgressMetrics(): EgressMetrics {
  const registry = createMetrics('egress-proxy');
  const registers = [registry];
  const bytes = new Counter({
    name: 'egress_bytes_total',
    help: 'Bytes to hosts (out) and from them (in), counted when a connection ends',
    labelNames: ['direction'],
    registers,
  });
  for (const direction of ['out', 'in']) bytes.inc({ direction }, 0);
  return {
    registry,
    requests: new Counter({
      name: 'egress_requests_total',
      help: 'Requests of sandboxes; outcome is allowed or the reason of the refusal',
      labelNames: ['kind', 'egress', 'outcome'],
      registers,
    }),
    open: new Gauge({ name: 'egress_open', help: 'Open connections to hosts', labelNames: ['kind'], registers }),
    bytes,
    seconds: new Histogram({
      name: 'egress_connect_duration_seconds',
      help: 'Time from the request of a sandbox to the connection with its host, name lookup included',
      buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
    cut: new Counter({
      name: 'egress_cut_total',
      help: 'Connections ended by the proxy: a limit, or a TLS name other than the requested one',
      labelNames: ['why'],
      registers,
    }),
  };
}
