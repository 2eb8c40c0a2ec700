import { Counter, type Registry } from '@slipway/telemetry/http';

/** There with every worker, so that an alert on them has a series before the first span. */
export class TraceExportMetrics {
  readonly spans: Counter;
  readonly failures: Counter;

  /** @param registry none: they are counted for nobody. */
  constructor(registry: Registry | undefined) {
    const registers = registry === undefined ? [] : [registry];
    this.spans = new Counter({ name: 'trace_spans_exported_total', help: 'Spans that the OTLP receiver took', registers });
    this.failures = new Counter({
      name: 'trace_export_failures_total',
      help: 'Rounds of the export of traces that failed: receiver, gateway or database did not answer; what was due is sent later',
      registers,
    });
  }
}
