import type { ErrorCode } from '@slipway/contracts/errors';
import type { Clock, Ids } from '@slipway/domain';
import { costUsd, type ModelPrice } from '@slipway/llm';
import type { Logger } from '@slipway/telemetry';
import type { Admission, Claim } from '../budgets/admission.js';
import { atTier, type CallBound, type Granted } from '../budgets/call-bound.js';
import type { StoredKey } from '../keys/keys.queries.js';
import type { LedgerInput } from '../ledger/ledger-entry.js';
import type { LedgerWriter } from '../ledger/ledger-writer.js';
import type { OpenCalls } from '../ledger/open-calls.js';
import type { GatewayMetrics } from '../metrics.js';
import type { Deployment } from '../routing/deployment.js';
import { MAX_TOKENS, NO_USAGE, type Usage } from './usage.js';

/** What every call writes to when it is over. */
export interface CallSinks {
  readonly ledger: Pick<LedgerWriter, 'add'>;
  readonly openCalls: Pick<OpenCalls, 'begin'>;
  readonly metrics: GatewayMetrics;
  /**
   * For the one line of a call, which `settle` makes of fields that are no secrets: it is not scanned for any, which
   * takes ten times as long as the line.
   */
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

/** What was used. `costUsd` is absent where the usage says all: else it is what that may have cost at most. */
export interface Used {
  readonly usage: Usage;
  readonly source: 'reported' | 'estimated' | 'none';
  readonly costUsd?: number;
}

export type Outcome =
  | ({ readonly status: 'ok' } & Used)
  | ({ readonly status: 'aborted' } & Used)
  | ({ readonly status: 'failed'; readonly code: ErrorCode } & Used);

/**
 * One call to a model from its first moment to its last line in the ledger, the metrics and the log. Attempts that
 * failed and may have cost have lines of their own in the ledger before it.
 */
export class Call {
  /** Of the row in the ledger of the attempt that is made now. */
  private id: string;
  private readonly startedAt: Date;
  private readonly began = performance.now();
  /** Of the deployment that is asked. */
  price: ModelPrice | null = null;
  private deployment: string | null = null;
  private attempts = 0;
  private firstByteMs: number | null = null;
  private settled = false;
  /** Called when it is over. */
  onSettled: ((outcome: Outcome) => void) | null = null;

  /** @param bound what it can come to; `null`: it costs nothing. */
  constructor(
    readonly identity: CallIdentity,
    private admission: Admission,
    private readonly sinks: CallSinks,
    private readonly bound: CallBound | null = null,
  ) {
    this.id = sinks.ids.uuid();
    this.startedAt = sinks.clock.now();
  }

  /** USD that it may come to; `null`: no limit. */
  get ceilingUsd(): number | null {
    return this.admission.ceilingUsd;
  }

  /** Grant of its budgets, written into the provider's request. */
  get granted(): Granted {
    return {
      limit: this.bound?.limitFor(this.ceilingUsd) ?? null,
      searches: this.bound?.searchesFor(this.ceilingUsd) ?? null,
    };
  }

  /**
   * What it may have used at most where its provider did not count to the end. @param granted limits in the provider's
   * request. @param passedTokens what the caller received.
   */
  worst(granted: Granted, counted: Usage | null, passedTokens: number): Used {
    const { usage, costUsd: cost } = this.bound?.worst(this.price, granted, counted, passedTokens) ?? {
      usage: counted ?? NO_USAGE,
      costUsd: 0,
    };
    return { usage, source: 'estimated', costUsd: cost };
  }

  /**
   * Usage where it ended well at a provider without counts. @param granted limits in the provider's request. @param
   * bytes of UTF-8 that the caller received.
   */
  heard(granted: Granted, bytes: number): Used {
    const { usage, costUsd: cost } = this.bound?.heard(this.price, granted, bytes) ?? { usage: NO_USAGE, costUsd: 0 };
    return { usage, source: 'estimated', costUsd: cost };
  }

  /** Money for another attempt, while that of the one before is still held. @throws (rejects) as `Admitter.admit`. */
  another(signal: AbortSignal): Admission | Promise<Admission> {
    return this.admission.another(signal);
  }

  /**
   * An attempt failed that may have cost: it is settled by itself, and the call goes on, as another row, with what was
   * let in for the next.
   */
  lost(code: ErrorCode, used: Used, next: Admission): void {
    this.book({ status: 'failed', code, ...used });
    this.admission = next;
    this.id = this.sinks.ids.uuid();
  }

  /** The deployment that is asked now: from here on its price counts. */
  asks(deployment: Pick<Deployment, 'id' | 'price'>): void {
    this.attempts += 1;
    this.deployment = deployment.id;
    this.price = deployment.price === null ? null : atTier(deployment.price, this.bound?.serviceTier ?? null);
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

  /**
   * Writes the call down as what it comes to if this process dies: all that it was granted. Must be done before
   * anything is sent.
   * @param deployment that is asked first. @throws (rejects) SlipwayError `service.unavailable` when nothing can write
   * it down.
   */
  record(claim: Claim, deployment: Pick<Deployment, 'id'>): void | Promise<void> {
    const { maxCostUsd, maxTokens, promptTokens = maxTokens } = claim;
    const entry = this.entry({
      usage: {
        ...NO_USAGE,
        promptTokens: Math.min(promptTokens, MAX_TOKENS),
        completionTokens: Math.min(maxTokens - promptTokens, MAX_TOKENS),
      },
      source: 'estimated',
      cost: Math.min(maxCostUsd ?? 0, this.ceilingUsd ?? Number.POSITIVE_INFINITY),
      costKnown: maxCostUsd !== null,
      status: 'failed',
      errorCode: 'service.unavailable',
      latencyMs: 0,
    });
    return this.sinks.openCalls.begin({ ...entry, deployment: deployment.id, attempts: 1 });
  }

  /** Only the first outcome counts: an abort and an end that cross each other are one call. */
  settle(outcome: Outcome): void {
    if (this.settled) return;
    this.settled = true;
    this.conclude(outcome, this.book(outcome));
    this.onSettled?.(outcome);
  }

  /** The row of an attempt in the ledger, and the money of its admission. Answers the cost. */
  private book(outcome: Outcome): number {
    const { ledger, metrics } = this.sinks;
    const { model } = this.identity;
    const usage = outcome.source === 'none' ? NO_USAGE : outcome.usage;
    const cost = outcome.costUsd ?? this.costOf(usage);
    const errorCode = outcome.status === 'failed' ? outcome.code : null;
    const latencyMs = performance.now() - this.began;
    this.admission.settle(usage, cost);
    ledger.add(
      this.entry({
        usage,
        source: outcome.source,
        cost,
        costKnown: this.price !== null,
        status: outcome.status,
        errorCode,
        latencyMs,
      }),
    );
    metrics.tokens.inc({ model, kind: 'prompt' }, usage.promptTokens);
    metrics.tokens.inc({ model, kind: 'cached' }, usage.cachedTokens);
    metrics.tokens.inc({ model, kind: 'completion' }, usage.completionTokens);
    metrics.costUsd.inc({ model }, cost);
    return cost;
  }

  private conclude(outcome: Outcome, cost: number): void {
    const { key, model, requestId, traceId, streamed } = this.identity;
    const { metrics, callLog } = this.sinks;
    const latencyMs = performance.now() - this.began;
    const usage = outcome.source === 'none' ? NO_USAGE : outcome.usage;
    const errorCode = outcome.status === 'failed' ? outcome.code : null;
    metrics.calls.inc({ model, outcome: errorCode ?? outcome.status });
    if (errorCode === 'budget.exhausted') metrics.budgetStops.inc({ kind: 'answer' });
    metrics.seconds.observe({ model }, latencyMs / 1000);
    if (this.firstByteMs !== null) metrics.firstByteSeconds.observe({ model }, this.firstByteMs / 1000);
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
  }

  /** Its row of the ledger. */
  private entry({ usage, source, cost, costKnown, status, errorCode, latencyMs }: EntryParts): LedgerInput {
    const { key, model, requestId, traceId, streamed, purpose, fromCache } = this.identity;
    return {
      id: this.id,
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
      usageSource: source,
      costUsd: cost,
      costKnown,
      status,
      errorCode,
      streamed,
      startedAt: this.startedAt.toISOString(),
      firstByteMs: this.firstByteMs,
      latencyMs,
      holder: this.admission.draw.holder,
      accounts: [...this.admission.draw.accounts],
    };
  }
}

interface EntryParts {
  readonly usage: Usage;
  readonly source: LedgerInput['usageSource'];
  /** USD. */
  readonly cost: number;
  readonly costKnown: boolean;
  readonly status: LedgerInput['status'];
  readonly errorCode: string | null;
  readonly latencyMs: number;
}
