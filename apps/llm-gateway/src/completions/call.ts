import type { ErrorCode } from '@slipway/contracts';
import type { Clock, Ids } from '@slipway/domain';
import { costUsd, type ModelPrice } from '@slipway/llm';
import type { Logger } from '@slipway/telemetry';
import type { Admission } from '../budgets/admission.js';
import type { StoredKey } from '../keys/keys.queries.js';
import type { LedgerWriter } from '../ledger/ledger-writer.js';
import type { GatewayMetrics } from '../metrics.js';
import type { Deployment } from '../routing/deployment.js';
import { NO_USAGE, type Usage } from './usage.js';

/** What every call writes to when it is over. */
export interface CallSinks {
  readonly ledger: Pick<LedgerWriter, 'add'>;
  readonly metrics: GatewayMetrics;
  /** For the one line of a call, which `settle` makes of fields that are no secrets: it is not looked through for any, which takes ten times as long as the line. */
  readonly callLog: Logger;
  readonly clock: Clock;
  readonly ids: Ids;
}

export interface CallIdentity {
  readonly key: StoredKey;
  readonly requestId: string;
  readonly traceId: string;
  /** As the caller named it. */
  readonly model: string;
  readonly streamed: boolean;
  /** What it is for: see `purposeOf`. */
  readonly purpose: string;
  /** Answered from the gateway's own cache. */
  readonly fromCache: boolean;
}

export type Outcome =
  | { readonly status: 'ok'; readonly usage: Usage; readonly source: 'reported' | 'estimated' }
  | { readonly status: 'aborted'; readonly usage: Usage; readonly source: 'reported' | 'estimated' | 'none' }
  | { readonly status: 'failed'; readonly code: ErrorCode; readonly usage: Usage; readonly source: 'reported' | 'estimated' | 'none' };

/** One call to a model from its first moment to its one line in the ledger, the metrics and the log. */
export class Call {
  private readonly startedAt: Date;
  private readonly began = performance.now();
  /** Of the deployment that is asked. */
  price: ModelPrice | null = null;
  private deployment: string | null = null;
  private attempts = 0;
  private firstByteMs: number | null = null;
  private settled = false;
  /** Told when it is over. */
  onSettled: ((outcome: Outcome) => void) | null = null;

  constructor(
    readonly identity: CallIdentity,
    private readonly admission: Admission,
    private readonly sinks: CallSinks,
  ) {
    this.startedAt = sinks.clock.now();
  }

  /** USD that it may come to; `null`: no limit. */
  get ceilingUsd(): number | null {
    return this.admission.ceilingUsd;
  }

  /** The deployment that is asked now: from here on its price counts. */
  asks(deployment: Pick<Deployment, 'id' | 'price'>): void {
    this.attempts += 1;
    this.deployment = deployment.id;
    this.price = deployment.price;
  }

  /** How asking a deployment ended: `ok`, `aborted` or the code of the failure. */
  attempted(deployment: Pick<Deployment, 'id'>, outcome: string): void {
    this.sinks.metrics.attempts.inc({ deployment: deployment.id, outcome });
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
    const { key, model, requestId, traceId, streamed, purpose, fromCache } = this.identity;
    const { ledger, metrics, callLog, ids } = this.sinks;
    const latencyMs = performance.now() - this.began;
    const usage = outcome.source === 'none' ? NO_USAGE : outcome.usage;
    const cost = this.costOf(usage);
    const errorCode = outcome.status === 'failed' ? outcome.code : null;
    this.admission.settle(usage, cost);
    ledger.add({
      id: ids.uuid(),
      orgId: key.orgId,
      conversationId: key.conversationId,
      keyId: key.id,
      userId: key.userId,
      repository: key.tags?.repository ?? null,
      pullRequest: key.tags?.pullRequest ?? null,
      integration: key.tags?.integration ?? null,
      purpose,
      requestId,
      traceId,
      model,
      deployment: this.deployment,
      attempts: this.attempts,
      promptTokens: usage.promptTokens,
      completionTokens: usage.completionTokens,
      cachedTokens: usage.cachedTokens,
      cacheWriteTokens: usage.cacheWriteTokens,
      reasoningTokens: usage.reasoningTokens,
      fromCache,
      usageSource: outcome.source,
      costUsd: cost,
      costKnown: this.price !== null,
      status: outcome.status,
      errorCode,
      streamed,
      startedAt: this.startedAt.toISOString(),
      firstByteMs: this.firstByteMs,
      latencyMs,
      holder: this.admission.draw.holder,
      accounts: [...this.admission.draw.accounts],
    });
    metrics.calls.inc({ model, outcome: errorCode ?? outcome.status });
    metrics.seconds.observe({ model }, latencyMs / 1000);
    if (this.firstByteMs !== null) metrics.firstByteSeconds.observe({ model }, this.firstByteMs / 1000);
    metrics.tokens.inc({ model, kind: 'prompt' }, usage.promptTokens);
    metrics.tokens.inc({ model, kind: 'cached' }, usage.cachedTokens);
    metrics.tokens.inc({ model, kind: 'completion' }, usage.completionTokens);
    metrics.costUsd.inc({ model }, cost);
    const writingMs = this.firstByteMs === null ? 0 : latencyMs - this.firstByteMs;
    if (streamed && outcome.status === 'ok' && usage.completionTokens > 1 && writingMs > 0)
      metrics.tokensPerSecond.observe({ model }, usage.completionTokens / (writingMs / 1000));
    // No word of what was asked or answered.
    const line = {
      request_id: requestId,
      trace_id: traceId,
      org_id: key.orgId,
      user_id: key.userId,
      conversation_id: key.conversationId,
      key_id: key.id,
      model,
      deployment: this.deployment,
      attempts: this.attempts,
      streamed,
      outcome: errorCode ?? outcome.status,
      prompt_tokens: usage.promptTokens,
      completion_tokens: usage.completionTokens,
      cost_usd: cost,
      first_byte_ms: this.firstByteMs === null ? null : Math.round(this.firstByteMs),
      elapsed_ms: Math.round(latencyMs),
    };
    if (outcome.status === 'failed') callLog.warn(line, 'model call failed');
    else callLog.info(line, 'model call');
    this.onSettled?.(outcome);
  }
}
