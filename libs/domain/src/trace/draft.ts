import { MAX_SPAN_NAME, type TraceSpanKind } from '@slipway/contracts/conversations';
import type { LoggedCall } from './trace-event.js';

/** A span while it is made. Times in milliseconds since 1970; `end: null` while nothing has ended it. */
export interface Draft {
  readonly id: string;
  readonly kind: TraceSpanKind;
  readonly name: string;
  seq: number | null;
  start: number;
  end: number | null;
  status: 'ok' | 'error' | 'running';
  code: string | null;
  readonly epoch: number;
  readonly children: Draft[];
  call?: CallFigures;
  critical?: boolean;
  clockOffsetMs?: number;
}

export interface CallFigures {
  readonly prompt: number;
  readonly completion: number;
  readonly cached: number;
  /** Decimal; `null`: the price is unknown. */
  readonly cost: string | null;
  readonly firstByteMs: number | null;
  readonly attempts: number;
  readonly provider: string | null;
}

/** A turn: its root, and what is asked of it by name. */
export interface TurnDraft {
  readonly root: Draft;
  readonly messageId: string;
  readonly title: string;
  readonly traceId: string | null;
  /** When its message came into the log; calls from then on are its own. */
  readonly at: number;
  readonly agents: Draft[];
  readonly condenses: Draft[];
  readonly subAgents: Draft[];
  /** Model calls as recorded in the log. */
  readonly logged: Array<{
    readonly id: string;
    readonly seq: number;
    readonly at: number;
    readonly call: LoggedCall;
    used: boolean;
  }>;
}

/** @param subject the model, tool or agent; what is longer than a name may be is cut. */
export function spanName(operation: string, subject = ''): string {
  return `${operation} ${subject}`.trim().slice(0, MAX_SPAN_NAME).toWellFormed();
}

export function endDraft(draft: Draft, at: number, code: string | null = null): void {
  draft.end = Math.max(draft.start, at);
  draft.status = code === null ? 'ok' : 'error';
  draft.code = code;
}

/** A turn of the answer; `seq: null` for a message that is not in the log. */
export type TurnCopy = TurnDraft & { readonly seq: number | null };
