import {
  type AttributeValue,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { Tracing } from './tracing.js';

/**
 * What a file that was preloaded (`node --import`) leaves of its tracer; `deploy/images/apps/datadog/preload.mjs` is
 * one.
 */
interface PreloadedTracer {
  /** Of the vendor. */
  readonly name: string;
  /** Sends what waits, and calls back when that is over. */
  flush(done: () => void): void;
  /** Tag by which the vendor keeps a trace that sampling would drop. */
  readonly keepTag: string;
  /** Runs `work` so that nothing in it makes a span; absent where all work has spans, sampled or not. */
  withoutSpans?<T>(work: () => T): T;
  /** Whether the running code is in such work. */
  isWithoutSpans?(): boolean;
}

const PRELOADED = Symbol.for('slipway.tracer');

/**
 * The tracer that was preloaded, behind OpenTelemetry's API; `null` without one. Logs an error, and answers `null`,
 * when the tracer has registered with another copy of that API: all spans would be lost without a word.
 */
export function preloadedTracing(logger: Logger): Tracing | null {
  const preloaded = (globalThis as { [PRELOADED]?: PreloadedTracer })[PRELOADED];
  if (preloaded === undefined) return null;
  const tracer = trace.getTracer('slipway');
  if (
    !context.with(
      trace.setSpan(ROOT_CONTEXT, tracer.startSpan('probe')),
      () => trace.getActiveSpan()?.isRecording() ?? false,
    )
  ) {
    logger.error(
      { tracer: preloaded.name },
      'preloaded tracer not reachable by @opentelemetry/api, no spans of this service are sent',
    );
    return null;
  }
  return {
    active() {
      const span = trace.getActiveSpan();
      if (span === undefined) return undefined;
      const { traceId, spanId, traceFlags } = span.spanContext();
      return { traceId, spanId, sampled: (traceFlags & 1) === 1 };
    },
    isUnsampled: () => preloaded.isWithoutSpans?.() === true,
    async span(name, { parent, attributes }, work) {
      if (preloaded.isWithoutSpans?.() === true) return work();
      if (preloaded.withoutSpans !== undefined && typeof parent === 'string' && parent.endsWith('-00'))
        return preloaded.withoutSpans(work);
      const from =
        typeof parent === 'string' ? propagation.extract(ROOT_CONTEXT, { traceparent: parent }) : context.active();
      return tracer.startActiveSpan(
        name,
        { attributes: attributes as Record<string, AttributeValue> },
        from,
        async (span) => {
          try {
            return await work();
          } catch (error) {
            markFailed(span, error, preloaded.keepTag);
            throw error;
          } finally {
            span.end();
          }
        },
      );
    },
    logFields() {
      const span = trace.getActiveSpan()?.spanContext();
      // Datadog's names and forms of them.
      return span === undefined
        ? {}
        : { dd: { trace_id: span.traceId, span_id: BigInt(`0x${span.spanId}`).toString() } };
    },
    flush: () => new Promise((resolve) => preloaded.flush(resolve)),
  };
}

/**
 * Its kind, and nothing of its message or stack: those may hold what a user wrote, and are in the log under the same
 * trace.
 */
function markFailed(span: Span, error: unknown, keepTag: string): void {
  const kind = (error as { code?: unknown } | null)?.code;
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', typeof kind === 'string' ? kind : error instanceof Error ? error.name : 'unknown');
  span.setAttribute(keepTag, true);
}
