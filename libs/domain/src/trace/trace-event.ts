import type { LedgerCall } from '@slipway/contracts/conversations';
import type { EventKind, ExecutionStatus } from '@slipway/contracts/events';

/**
 * What a trace needs of an event: nothing of what a model, a tool or a user wrote, but the first words of a message.
 */
export interface TraceEvent {
  readonly seq: number;
  readonly epoch: number;
  readonly id: string;
  readonly kind: EventKind;
  /** Milliseconds since 1970, by the clock of who wrote it. */
  readonly at: number;
  /**
   * From `at` to when the platform stored it, by the platform's clock; only of what a sandbox wrote. Milliseconds,
   * negative where the sandbox's clock is ahead.
   */
  readonly storedAfterMs?: number;
  /** Of a user's message: when it was sent, and the trace id kept with it; `null` where that is not known. */
  readonly message?: { readonly title: string; readonly sentAt: number | null; readonly traceId: string | null };
  readonly tool?: string;
  readonly toolCallId?: string;
  readonly actionId?: string;
  readonly failed?: boolean;
  readonly code?: string;
  readonly update?: TraceUpdate;
}

/** The state updates that a trace is made of. */
export type TraceUpdate =
  | { readonly key: 'execution_status'; readonly status: ExecutionStatus }
  | { readonly key: 'start_task'; readonly step: TraceStartStep }
  | { readonly key: 'confirmation'; readonly accepted: boolean; readonly actionIds: readonly string[] }
  | { readonly key: 'stats'; readonly call: LoggedCall }
  | {
      readonly key: 'sub_agent';
      readonly task: string;
      readonly actionId: string;
      readonly agent: string;
      readonly inner: InnerEvent;
    };

export interface TraceStartStep {
  readonly attempt: number;
  readonly status: string;
  readonly state: 'running' | 'done' | 'skipped' | 'failed';
  readonly startedAt: number;
  readonly elapsedMs: number | null;
  readonly code: string | null;
}

/** A model call as the agent wrote it into its log, after its end. */
export interface LoggedCall {
  readonly model: string;
  readonly usage: string;
  readonly latencyMs: number;
  readonly prompt: number;
  readonly completion: number;
  readonly cached: number;
  /** Decimal, USD. */
  readonly cost: string;
}

/** An event in a sub-agent's own log. */
export interface InnerEvent {
  readonly id: string;
  readonly kind: string;
  readonly at: number;
  readonly tool?: string;
  readonly toolCallId?: string;
  readonly actionId?: string;
  readonly failed?: boolean;
}

/** A message that is in the inbox and not in the log yet. */
export interface QueuedMessage {
  readonly id: string;
  readonly sentAt: number;
  readonly traceId: string | null;
}

export type TraceCall = LedgerCall;
