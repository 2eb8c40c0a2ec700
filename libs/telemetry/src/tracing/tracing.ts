import { currentTraceId, makeTraceparent } from '../context.js';

/** The span that the running code is in. */
export interface ActiveSpan {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  /** Whether the trace is sent; it goes on in the peer's part of it. */
  readonly sampled: boolean;
}

export interface SpanOptions {
  /** A W3C `traceparent`: the span continues that trace. [the running code's span] */
  readonly parent?: string | null;
  /** Numbers and names of ours; no text of a user. */
  readonly attributes?: Readonly<Record<string, string | number | boolean>>;
}

/** What a tracer does for a service. Nothing of it throws, and nothing of it waits for a receiver. */
export interface Tracing {
  /** `undefined` outside of any span. */
  active(): ActiveSpan | undefined;
  /** Is the running code part of a trace that is not sent, and makes no span? Then a peer must not begin one either. */
  isUnsampled(): boolean;
  /**
   * Runs `work` in a span, which ends with it. A rejection marks the span as failed and keeps its trace, whatever the
   * sampling.
   */
  span<T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T>;
  /** Fields of each log line within a span. */
  logFields(): Readonly<Record<string, unknown>>;
  /** Sends what waits. Resolves when it is sent or lost. */
  flush(): Promise<void>;
}

const NO_FIELDS = {};

/** Ids without durations: each service knows the trace of its work, and nothing is sent. */
const NONE: Tracing = {
  active: () => undefined,
  isUnsampled: () => false,
  span: (_name, _options, work) => work(),
  logFields: () => NO_FIELDS,
  flush: async () => {},
};

let tracing: Tracing = NONE;

/** Sets this process' tracer; `null`: none. Called once, before the service opens anything. */
export function useTracing(chosen: Tracing | null): void {
  tracing = chosen ?? NONE;
}

export function activeTracing(): Tracing {
  return tracing;
}

/**
 * The running code's place in its trace, as a W3C `traceparent`: the tracer's span when there is one, else a new span
 * id under the current trace (or under `traceId`). For what is stored or passed on in a body; a request gets
 * `traceHeaders`.
 */
export function currentTraceparent(traceId?: string): string {
  const span = tracing.active();
  // A context may have taken over another trace than its request's, as that of an ingest batch: then the span is none
  // of it.
  if (span === undefined || span.traceId !== (traceId ?? currentTraceId(span.traceId)))
    return makeTraceparent(traceId, !tracing.isUnsampled());
  return `00-${span.traceId}-${span.spanId}-${span.sampled ? '01' : '00'}`;
}

/**
 * The trace of an outgoing request, the only place where its header is written: tracers are set up to leave it alone,
 * so exactly one goes out, and only to peers of ours.
 */
export function traceHeaders(traceId?: string): { readonly traceparent: string } {
  return { traceparent: currentTraceparent(traceId) };
}

/** Runs `work` in a span of this name when there is a tracer. */
export function inSpan<T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T> {
  return tracing.span(name, options, work);
}
