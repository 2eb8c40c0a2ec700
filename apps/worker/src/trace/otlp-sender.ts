import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import type { ExportedSpan } from './otlp-spans.js';

/** Longest wait for the receiver, its own repeats included. Milliseconds. */
const TIMEOUT_MS = 10_000;
/** The exporter's number for what was taken. */
const SUCCESS = 0;

export interface OtlpReceiver {
  /** `OTEL_EXPORTER_OTLP_ENDPOINT`: the path of traces is added to it. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Spans by OTLP over HTTP, as protobuf. Answers of 429, 502, 503 and 504 are repeated by OpenTelemetry's exporter
 * within `TIMEOUT_MS`.
 */
export class OtlpSender {
  private readonly exporter: OTLPTraceExporter;

  constructor({ endpoint, headers }: OtlpReceiver) {
    this.exporter = new OTLPTraceExporter({
      url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
      headers: { ...headers },
      timeoutMillis: TIMEOUT_MS,
    });
  }

  /** @throws Error when the receiver has not taken them. Its message has nothing of the headers. */
  send(spans: readonly ExportedSpan[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.exporter.export([...spans], ({ code, error }) => {
        if (code === SUCCESS) resolve();
        else reject(new Error('the OTLP receiver did not take the spans', { cause: error }));
      });
    });
  }

  close(): Promise<void> {
    return this.exporter.shutdown();
  }
}
