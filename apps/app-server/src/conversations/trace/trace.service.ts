import { Inject, Injectable } from '@nestjs/common';
import {
  type ConversationTrace,
  LedgerCalls,
  MAX_TRACE_SPANS,
  type TraceQuery,
} from '@slipway/contracts/conversations';
import { type Principal } from '@slipway/contracts/organizations';
import type { SqlPool } from '@slipway/db/sql';
import { collectTrace } from '@slipway/db/trace';
import type { Clock } from '@slipway/domain';
import { traceOf } from '@slipway/domain/trace';
import { notFound } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import type { Config } from '../../config.js';
import { CLOCK, CONFIG, LOGGER, SQL_POOL } from '../../platform/tokens.js';

/** Longest wait for the ledger; then calls are taken from the log. Milliseconds. */
const LEDGER_MS = 5_000;

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
    const read = await collectTrace(this.pool, orgId, conversationId, { after });
    if (read === null) throw notFound();
    const { collector, conversation, queued, from } = read;
    const { cut } = collector;
    const room = Math.max(0, MAX_TRACE_SPANS - collector.spans - queued.length - 1);
    const ledger = await this.ledger(orgId, conversationId, { from, to: cut?.at ?? null, limit: room });
    const now = this.clock.now().getTime();
    const { startedAt, turns, spans } = traceOf(collector, {
      queued,
      calls: ledger?.calls ?? null,
      live: cut !== null || conversation.desired === 'run' || conversation.status === 'waiting',
      limit: MAX_TRACE_SPANS,
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

  /** `null` when the gateway does not answer: the trace is shown all the same. */
  private async ledger(
    orgId: string,
    conversationId: string,
    range: { from: number | null; to: number | null; limit: number },
  ): Promise<LedgerCalls | null> {
    const query = new URLSearchParams({ limit: String(range.limit) });
    if (range.from !== null) query.set('from', new Date(range.from).toISOString());
    if (range.to !== null) query.set('to', new Date(range.to).toISOString());
    try {
      const response = await fetch(
        new URL(`/internal/calls/${encodeURIComponent(orgId)}/${conversationId}?${query}`, this.config.LLM_GATEWAY_URL),
        {
          headers: { authorization: `Bearer ${this.config.LLM_GATEWAY_MASTER_KEY}` },
          signal: AbortSignal.timeout(LEDGER_MS),
        },
      );
      if (!response.ok) throw new Error(`llm-gateway answered ${response.status}`);
      return LedgerCalls.parse(await response.json());
    } catch (error) {
      this.logger.warn(
        { err: error, conversation_id: conversationId },
        'ledger not read for a trace, calls are taken from the log',
      );
      return null;
    }
  }
}
