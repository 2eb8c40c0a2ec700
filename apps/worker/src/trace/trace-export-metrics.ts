import { Counter, Gauge, type Registry } from '@slipway/telemetry/http';

/** A worker without a round for so long does not export: another one does, or none. Milliseconds. */
const IDLE_MS = 60_000;

/** There with every worker, so that an alert on them has a series before the first span. */
export class TraceExportMetrics {
  readonly spans: Counter;
  readonly failures: Counter;
  private caughtUpAt = performance.now();
  private lastRoundAt = Number.NEGATIVE_INFINITY;

  /** @param registry absent: they are counted without export. */
  constructor(registry: Registry | undefined) {
    const registers = registry === undefined ? [] : [registry];
    const lagSeconds = (): number => this.lagSeconds();
    new Gauge({
      name: 'trace_export_lag_seconds',
      help: 'Time since the trace export last had nothing due; 0 in a worker that does not export',
      registers,
      collect() {
        this.set(lagSeconds());
      },
    });
    this.spans = new Counter({
      name: 'trace_spans_exported_total',
      help: 'Spans accepted by the OTLP receiver',
      registers,
    });
    this.failures = new Counter({
      name: 'trace_export_failures_total',
      help: 'Failed rounds of the trace export: receiver, gateway or database did not answer; due traces are sent later',
      registers,
    });
  }

  /** A round of this process has ended. @param caughtUp nothing that was due is left. */
  round(caughtUp: boolean): void {
    const now = performance.now();
    // Another worker has exported meanwhile.
    if (caughtUp || now - this.lastRoundAt > IDLE_MS) this.caughtUpAt = now;
    this.lastRoundAt = now;
  }

  private lagSeconds(): number {
    const now = performance.now();
    return now - this.lastRoundAt > IDLE_MS ? 0 : (now - this.caughtUpAt) / 1000;
  }
}
