import { createHash } from 'node:crypto';
import type { TraceSpanKind } from '@slipway/contracts/conversations';

/**
 * Id of a span: the same for the same conversation, event (or ledger row) and kind, wherever and however often it is
 * made.
 */
export function spanId(conversationId: string, eventId: string, kind: TraceSpanKind): string {
  return createHash('sha256').update(`${conversationId}\n${eventId}\n${kind}`).digest('hex').slice(0, 16);
}

/** Trace id of a turn whose own was not kept. */
export function derivedTraceId(conversationId: string, messageId: string): string {
  return createHash('sha256').update(`${conversationId}\n${messageId}\ntrace`).digest('hex').slice(0, 32);
}

/** Is it a trace id as W3C has them: 32 hex digits, not all zero? */
export function isTraceId(text: string | null): text is string {
  return text !== null && /^[0-9a-f]{32}$/.test(text) && !/^0+$/.test(text);
}
