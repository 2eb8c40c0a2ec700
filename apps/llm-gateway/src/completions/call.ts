import type { ErrorCode } from '@slipway/contracts';
import type { Clock, Ids } from '@slipway/domain';
import { costUsd, type ModelPrice, priceOf } from '@slipway/llm';
import type { Logger } from '@slipway/telemetry';
import type { StoredKey } from '../keys/keys.queries.js';
import type { LedgerWriter } from '../ledger/ledger-writer.js';
import type { GatewayMetrics } from '../metrics.js';
import { NO_USAGE, type Usage } from './usage.js';

/** What every call writes to when it is over. */
export interface CallSinks {
  readonly ledger: Pick<LedgerWriter, 'add'>;
  readonly metrics: GatewayMetrics;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly ids: Ids;
}

export interface CallIdentity {
  readonly key: StoredKey;
  readonly requestId: string;
  readonly traceId: string;
  readonly model: string;
  readonly streamed: boolean;
}

export type Outcome =
  | { readonly status: 'ok'; readonly usage: Usage; readonly source: 'reported' | 'estimated' }
  | { readonly status: 'aborted'; readonly usage: Usage; readonly source: 'reported' | 'estimated' | 'none' }
  | { readonly status: 'failed'; readonly code: ErrorCode; readonly usage: Usage; readonly source: 'reported' | 'estimated' | 'none' };

/** One call to a model from its first moment to its one line in the ledger, the metrics and the log. */
export class Call {
  private readonly startedAt: Date;
  private readonly began = performance.now();
  private readonly price: ModelPrice | null;
  private firstByteMs: number | null = null;
  private settled = false;

  constructor(
    readonly identity: CallIdentity,
    private readonly sinks: CallSinks,
  ) {
    this.startedAt = sinks.clock.now();
    this.price = priceOf(identity.model);
  }

  firstByte(): void {
    this.firstByteMs ??= performance.now() - this.began;
  }

  /** USD; 0 when the price is not known. */
  costOf(usage: Usage): number {
    return this.price === null ? 0 : costUsd(this.price, usage);
  }

  /** Only the first outcome counts: an abort and an end that cross each other are one call. */
  settle(outcome: Outcome): void {
    if (this.settled) return;
    this.settled = true;
    const { key, model, requestId, traceId, streamed } = this.identity;
    const { ledger, metrics, logger, ids } = this.sinks;
    const latencyMs = performance.now() - this.began;
    const usage = outcome.source === 'none' ? NO_USAGE : outcome.usage;
    const cost = this.costOf(usage);
    const errorCode = outcome.status === 'failed' ? outcome.code : null;
    ledger.add({
      id: ids.uuid(),
      orgId: key.orgId,
      conversationId: key.conversationId,
      keyId: key.id,
      userId: key.userId,
      requestId,
      traceId,
      model,
      ...usage,
      usageSource: outcome.source,
      costUsd: cost,
      costKnown: this.price !== null,
      status: outcome.status,
      errorCode,
      streamed,
      startedAt: this.startedAt.toISOString(),
      firstByteMs: this.firstByteMs,
      latencyMs,
    });
    metrics.calls.inc({ model, outcome: errorCode ?? outcome.status });
    metrics.seconds.observe({ model }, latencyMs / 1000);
    if (this.firstByteMs !== null) metrics.firstByteSeconds.observe({ model }, this.firstByteMs / 1000);
    metrics.tokens.inc({ model, kind: 'prompt' }, usage.promptTokens);
    metrics.tokens.inc({ model, kind: 'cached' }, usage.cachedTokens);
    metrics.tokens.inc({ model, kind: 'completion' }, usage.completionTokens);
    metrics.costUsd.inc({ model }, cost);
    // No word of what was asked or answered.
    const line = {
      request_id: requestId,
      trace_id: traceId,
      org_id: key.orgId,
      user_id: key.userId,
      conversation_id: key.conversationId,
      key_id: key.id,
      model,
      streamed,
      outcome: errorCode ?? outcome.status,
      prompt_tokens: usage.promptTokens,
      completion_tokens: usage.completionTokens,
      cost_usd: cost,
      first_byte_ms: this.firstByteMs === null ? null : Math.round(this.firstByteMs),
      elapsed_ms: Math.round(latencyMs),
    };
    if (outcome.status === 'failed') logger.warn(line, 'model call failed');
    else logger.info(line, 'model call');
  }
}
