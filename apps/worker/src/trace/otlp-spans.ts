import { createHmac } from 'node:crypto';
import type { HrTime, SpanContext } from '@opentelemetry/api';
import type { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import type { TraceSpan, TraceTurn } from '@slipway/contracts/conversations';
import { attributesOf, GEN_AI_SCHEMA_URL, type Trace } from '@slipway/domain/trace';

/** As the exporter takes it. */
export type ExportedSpan = Parameters<OTLPTraceExporter['export']>[0][number];

/** OpenTelemetry's numbers: their enums are code, and nothing of the package is needed here. */
const KIND = { internal: 0, client: 2 } as const;
const STATUS = { unset: 0, error: 2 } as const;
const SAMPLED = 1;

const ORG = 'slipway.org.id';

export interface SpanOrigin {
  readonly conversationId: string;
  /** `pseudonymOf` the organization. */
  readonly org: string;
}

const RESOURCE: Resource = resourceFromAttributes({ 'service.name': 'slipway' });
const SCOPE = { name: 'slipway', schemaUrl: GEN_AI_SCHEMA_URL };

/** Pseudonym of an organization outside: stable, and not reversible without the secret. 16 hex digits. */
export function pseudonymOf(secret: string, orgId: string): string {
  return createHmac('sha256', secret).update(`otlp organization ${orgId}`).digest('hex').slice(0, 16);
}

/**
 * Spans of some turns, each under its own turn's trace id. What a user, a model or a tool wrote is not in a span. All
 * of them have ended.
 */
export function otlpSpans(
  { startedAt, spans }: Trace,
  turns: readonly TraceTurn[],
  { conversationId, org }: SpanOrigin,
): ExportedSpan[] {
  const traceIds = new Map<string, string>();
  const wanted = new Map(turns.map(({ span, traceId }) => [span, traceId]));
  const found: ExportedSpan[] = [];
  for (const span of spans) {
    // A parent stands before its children.
    const traceId = span.parent === null ? wanted.get(span.id) : traceIds.get(span.parent);
    if (traceId === undefined) continue;
    traceIds.set(span.id, traceId);
    const context = (spanId: string): SpanContext => ({ traceId, spanId, traceFlags: SAMPLED });
    const [start, length] = [startedAt + span.at, span.ms ?? 0];
    found.push({
      name: span.name,
      kind: span.kind === 'chat' ? KIND.client : KIND.internal,
      spanContext: () => context(span.id),
      ...(span.parent === null ? {} : { parentSpanContext: context(span.parent) }),
      startTime: timeOf(start),
      endTime: timeOf(start + length),
      duration: timeOf(length),
      status: statusOf(span),
      attributes: { ...attributesOf(span, conversationId), [ORG]: org },
      ...{ links: [], events: [], ended: true, resource: RESOURCE, instrumentationScope: SCOPE },
      ...{ droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 },
    });
  }
  return found;
}

function statusOf({ status, code }: TraceSpan): ExportedSpan['status'] {
  return status === 'error'
    ? { code: STATUS.error, ...(code === undefined ? {} : { message: code }) }
    : { code: STATUS.unset };
}

/** Milliseconds as seconds and the nanoseconds beyond. */
function timeOf(ms: number): HrTime {
  return [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1e6)];
}
