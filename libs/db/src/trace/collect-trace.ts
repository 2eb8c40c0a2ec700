import { MAX_TRACE_SPANS } from '@slipway/contracts/conversations';
import { type QueuedMessage, TraceCollector } from '@slipway/domain/trace';
import type { PoolClient } from 'pg';
import type { SqlPool } from '../sql/index.js';
import { inOrg } from '../sql/index.js';
import {
  readTracedConversation,
  readTraceOpening,
  readTraceRows,
  readWaitingMessages,
  type TracedConversation,
  type TraceRow,
} from './trace.queries.js';
import { traceEventOf } from './trace-event-of-row.js';

/** Lines of the log that are held at once. */
const PAGE_LINES = 1_000;
/** Lines that are read after the last span that fits, for the ends of what is open. */
const ENDING_LINES = 2_000;
/** Messages that wait and are shown. */
const MAX_WAITING = 50;

/** A part of a log, with what a trace needs beside it. */
export interface CollectedTrace {
  readonly collector: TraceCollector;
  readonly conversation: TracedConversation;
  readonly queued: readonly QueuedMessage[];
  /** Time of the first event of this part; `null` at the log's beginning. Milliseconds since 1970. */
  readonly from: number | null;
}

/**
 * Reads a log from a position to its head, or until `limit` spans. Page by page in transactions of their own: a long
 * log holds no snapshot, and what is appended meanwhile is after `head`.
 * @returns `null` when the organization has no such conversation.
 */
export async function collectTrace(
  pool: SqlPool,
  orgId: string,
  conversationId: string,
  { after, limit = MAX_TRACE_SPANS }: { readonly after: number; readonly limit?: number | undefined },
): Promise<CollectedTrace | null> {
  const inside = <T>(work: (client: PoolClient) => Promise<T>): Promise<T> => inOrg(pool, orgId, work);
  const [conversation, queued] = await inside(async (client) => [
    await readTracedConversation(client, orgId, conversationId),
    await readWaitingMessages(client, orgId, conversationId, MAX_WAITING),
  ]);
  if (conversation === null) return null;
  const collector = new TraceCollector(conversationId, limit - MAX_WAITING - 1);
  if (after > 0) add(collector, await inside((client) => readTraceOpening(client, orgId, conversationId, after)));
  let from: number | null = null;
  let lastLine = conversation.head;
  for (let at = after; at < lastLine; at += PAGE_LINES) {
    const rows = await inside((client) =>
      readTraceRows(client, orgId, conversationId, { after: at, upto: Math.min(at + PAGE_LINES, lastLine) }),
    );
    if (after > 0 && from === null) from = rows.map(traceEventOf).find((event) => event !== null)?.at ?? null;
    add(collector, rows);
    if (collector.cut === null) continue;
    if (!collector.hasOpen) break;
    lastLine = Math.min(lastLine, collector.cut.seq + ENDING_LINES);
  }
  return { collector, conversation, queued: collector.cut === null ? queued : [], from };
}

function add(collector: TraceCollector, rows: readonly TraceRow[]): void {
  for (const row of rows) {
    const event = traceEventOf(row);
    if (event !== null) collector.add(event);
  }
}
