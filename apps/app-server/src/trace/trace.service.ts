import { Inject, Injectable } from '@nestjs/common';
import { type ConversationTrace, LedgerCalls, MAX_TRACE_SPANS, type Principal, type TraceQuery } from '@slipway/contracts';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import { type QueuedMessage, TraceCollector, traceOf } from '@slipway/domain/trace';
import { notFound } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import type { Config } from '../config.js';
import { CLOCK, CONFIG, LOGGER, SQL_POOL } from '../platform/tokens.js';
import { readTracedConversation, readTraceOpening, readTraceRows, readWaitingMessages, type TracedConversation, type TraceRow } from './trace.queries.js';
import { traceEventOf } from './trace-event-of-row.js';

/** Lines of the log that are held at once. */
const PAGE_LINES = 1_000;
/** Lines that are read after the last span that fits, for the ends of what is open. */
const ENDING_LINES = 2_000;
/** Messages that wait and are shown. */
const MAX_WAITING = 50;
/** Longest wait for the ledger; then calls are taken from the log. Milliseconds. */
const LEDGER_MS = 5_000;

interface Read {
  readonly collector: TraceCollector;
  readonly conversation: TracedConversation;
  readonly queued: readonly QueuedMessage[];
  /** Time of the first event of this part; `null` at the log's beginning. Milliseconds since 1970. */
  readonly from: number | null;
}

@Injectable()
export class TraceService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** @throws SlipwayError `resource.not-found` */
  async read({ orgId }: Principal, conversationId: string, { after }: TraceQuery): Promise<ConversationTrace> {
    const { collector, conversation, queued, from } = await this.log(orgId, conversationId, after);
    const { cut } = collector;
    const room = Math.max(0, MAX_TRACE_SPANS - collector.spans - queued.length - 1);
    const ledger = await this.ledger(orgId, conversationId, { from, to: cut?.at ?? null, limit: room });
    const now = this.clock.now().getTime();
    const { startedAt, turns, spans } = traceOf(collector, {
      queued,
      calls: ledger?.calls ?? null,
      live: cut !== null || conversation.desired === 'run' || conversation.status === 'waiting',
      now,
    });
    return {
      conversationId,
      startedAt: new Date(startedAt).toISOString(),
      asOf: new Date(now).toISOString(),
      upto: cut === null ? Math.max(conversation.head, after) : cut.seq - 1,
      calls: ledger === null ? 'log' : 'ledger',
      turns: [...turns],
      spans: [...spans],
      truncated: cut !== null || ledger?.more === true,
      nextAfter: cut === null ? null : cut.seq - 1,
    };
  }

  /** Page by page in transactions of their own: a long log holds no snapshot, and what is appended meanwhile is after `head`. */
  private async log(orgId: string, conversationId: string, after: number): Promise<Read> {
    const inside = <T>(work: (client: PoolClient) => Promise<T>): Promise<T> => inOrg(this.pool, orgId, work);
    const [conversation, queued] = await inside(async (client) => [
      await readTracedConversation(client, orgId, conversationId),
      await readWaitingMessages(client, orgId, conversationId, MAX_WAITING),
    ]);
    if (conversation === null) throw notFound();
    const collector = new TraceCollector(conversationId, MAX_TRACE_SPANS - MAX_WAITING - 1);
    if (after > 0) add(collector, await inside((client) => readTraceOpening(client, orgId, conversationId, after)));
    let from: number | null = null;
    let lastLine = conversation.head;
    for (let at = after; at < lastLine; at += PAGE_LINES) {
      const rows = await inside((client) => readTraceRows(client, orgId, conversationId, { after: at, upto: Math.min(at + PAGE_LINES, lastLine) }));
      if (after > 0 && from === null) from = rows.map(traceEventOf).find((event) => event !== null)?.at ?? null;
      add(collector, rows);
      if (collector.cut === null) continue;
      if (!collector.hasOpen) break;
      lastLine = Math.min(lastLine, collector.cut.seq + ENDING_LINES);
    }
    return { collector, conversation, queued: collector.cut === null ? queued : [], from };
  }

  /** `null` when the gateway does not answer: the trace is shown all the same. */
  private async ledger(orgId: string, conversationId: string, range: { from: number | null; to: number | null; limit: number }): Promise<LedgerCalls | null> {
    const query = new URLSearchParams({ limit: String(range.limit) });
    if (range.from !== null) query.set('from', new Date(range.from).toISOString());
    if (range.to !== null) query.set('to', new Date(range.to).toISOString());
    try {
      const response = await fetch(new URL(`/internal/calls/${encodeURIComponent(orgId)}/${conversationId}?${query}`, this.config.LLM_GATEWAY_URL), {
        headers: { authorization: `Bearer ${this.config.LLM_GATEWAY_MASTER_KEY}` },
        signal: AbortSignal.timeout(LEDGER_MS),
      });
      if (!response.ok) throw new Error(`llm-gateway answered ${response.status}`);
      return LedgerCalls.parse(await response.json());
    } catch (error) {
      this.logger.warn({ err: error, conversation_id: conversationId }, 'ledger not read for a trace, calls are taken from the log');
      return null;
    }
  }
}

function add(collector: TraceCollector, rows: readonly TraceRow[]): void {
  for (const row of rows) {
    const event = traceEventOf(row);
    if (event !== null) collector.add(event);
  }
}
