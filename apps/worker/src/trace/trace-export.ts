import { MAX_TRACE_SPANS } from '@slipway/contracts/conversations';
import type { SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import type { Logger } from '@slipway/telemetry';
import type { LlmGatewayClient } from '../clients/llm-gateway.client.js';
import type { ConversationLocks } from '../conversations/conversation-locks.js';
import { Lead } from '../sweeps/leads/lead.js';
import { MAX_TURN_SPANS, readEndedTurns } from './ended-turns.js';
import { type ExportedSpan, otlpSpans, pseudonymOf } from './otlp-spans.js';
import { noteExported, type UnexportedTrace, unexportedTraces } from './trace-export.queries.js';
import type { TraceExportMetrics } from './trace-export-metrics.js';

/** Between two rounds; with `SETTLED_MS`, what a trace is behind its turn. Milliseconds. */
const ROUND_MS = 1_000;
/**
 * A conversation in which nothing happened for so long: by then the gateway has written its calls down. Milliseconds.
 */
const SETTLED_MS = 3_000;
/**
 * A starting process reads back so far; what ended before an endpoint was configured, or before a longer outage, is not
 * exported. Milliseconds.
 */
const LOOK_BACK_MS = 24 * 3_600_000;
/** Conversations of one sweep, and how many of them are read side by side. */
const AT_ONCE = 200;
const SIDE_BY_SIDE = 4;
/** Spans of one request. */
const BATCH = 512;
/** Conversations that are remembered as having nothing to export yet. */
const MAX_LOOKED = 10_000;

export interface TraceExportOptions {
  readonly pool: SqlPool;
  readonly gateway: Pick<LlmGatewayClient, 'calls'>;
  /** Rejects when the receiver has not taken them. */
  readonly send: (spans: readonly ExportedSpan[]) => Promise<void>;
  /** Makes pseudonyms of organizations. */
  readonly secret: string;
  readonly clock: Clock;
  readonly locks: Pick<ConversationLocks, 'tryLock'>;
  readonly metrics: TraceExportMetrics;
  readonly logger: Logger;
}

/**
 * Sends each turn of each conversation to an OTLP receiver, once it has ended: all of them, unsampled. A turn is sent
 * whole before its position is noted, so a process that dies sends it again under the same ids. A receiver or a gateway
 * that does not answer is asked again in the next round, and nothing is left out.
 */
export class TraceExport {
  private readonly lead: Lead;
  /** Heads of conversations at which nothing had ended. */
  private readonly looked = new Map<string, number>();
  private since: Date;

  constructor(private readonly options: TraceExportOptions) {
    const { locks, logger, clock } = options;
    this.since = new Date(clock.now().getTime() - LOOK_BACK_MS);
    this.lead = new Lead({
      name: 'trace-export',
      everyMs: ROUND_MS,
      locks,
      logger,
      round: (signal) =>
        this.run(signal).catch((error: unknown) => {
          if (!signal.aborted) {
            options.metrics.failures.inc();
            options.metrics.round(false);
          }
          throw error;
        }),
    });
  }

  start(): void {
    this.lead.start();
  }

  close(): Promise<void> {
    return this.lead.close();
  }

  /** One round. Rejects when database, gateway or receiver do not answer; what was sent and noted by then stays so. */
  async run(signal: AbortSignal): Promise<void> {
    const { pool, clock, metrics } = this.options;
    const until = new Date(clock.now().getTime() - SETTLED_MS);
    const found = await unexportedTraces(pool, this.since, until);
    const due = found.filter(({ id, head }) => this.looked.get(id) !== head);
    const left = due.slice(0, AT_ONCE);
    await Promise.all(
      Array.from({ length: SIDE_BY_SIDE }, async () => {
        for (let next = left.shift(); next !== undefined; next = left.shift()) {
          signal.throwIfAborted();
          await this.export(next, signal);
        }
      }),
    );
    metrics.round(due.length <= AT_ONCE);
    // Nothing older is left; an hour covers transactions that were under way.
    if (found.length === 0) this.since = new Date(Math.max(this.since.getTime(), until.getTime() - 3_600_000));
  }

  private async export(unexported: UnexportedTrace, signal: AbortSignal): Promise<void> {
    const { pool, send, secret, metrics, logger } = this.options;
    const { id, orgId, head, after } = unexported;
    let part = await readEndedTurns(this.options, unexported, MAX_TRACE_SPANS, signal);
    if (part?.isTooLong === true) part = await readEndedTurns(this.options, unexported, MAX_TURN_SPANS, signal);
    if (part === null) return;
    const { trace, turns, upto } = part;
    if (part.isTooLong)
      logger.warn(
        { org_id: orgId, conversation_id: id, limit: MAX_TURN_SPANS },
        'turn too long to be exported as a trace',
      );
    const spans = otlpSpans(trace, turns, { conversationId: id, org: pseudonymOf(secret, orgId) });
    for (let at = 0; at < spans.length; at += BATCH) {
      const batch = spans.slice(at, at + BATCH);
      await send(batch);
      metrics.spans.inc(batch.length);
    }
    if (upto > after) await noteExported(pool, orgId, id, upto);
    if (upto >= head) this.looked.delete(id);
    else this.remember(id, head);
  }

  private remember(id: string, head: number): void {
    this.looked.delete(id);
    this.looked.set(id, head);
    const [oldest] = this.looked.keys();
    if (this.looked.size > MAX_LOOKED && oldest !== undefined) this.looked.delete(oldest);
  }
}
