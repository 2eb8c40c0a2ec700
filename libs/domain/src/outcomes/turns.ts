import type { TraceSpan, TraceTurn } from '@slipway/contracts/conversations';
import { ticksOf } from './money.js';

export interface TurnSums {
  readonly turns: number;
  readonly failedTurns: number;
  /** Answered calls of the failed ones. Parts of 1e-10 USD. */
  readonly failedTurnsCost: bigint;
  /** From each question of the agent to its answer. Milliseconds. */
  readonly approvalWaitsMs: readonly number[];
}

/**
 * What turns of a trace come to. @param spans of the trace: each turn as a tree from the top down. @param turns those
 * that count.
 */
export function turnSums(spans: readonly TraceSpan[], turns: readonly Pick<TraceTurn, 'span'>[]): TurnSums {
  const counted = new Set(turns.map(({ span }) => span));
  let failedTurns = 0;
  let failedTurnsCost = 0n;
  const approvalWaitsMs: number[] = [];
  let root: TraceSpan | null = null;
  for (const span of spans) {
    if (span.parent === null) {
      root = counted.has(span.id) ? span : null;
      if (root?.status === 'error') failedTurns += 1;
    }
    if (root === null) continue;
    if (span.kind === 'approval' && span.ms !== null) approvalWaitsMs.push(span.ms);
    // A call that failed is a retry's cost, whatever became of its turn.
    if (root.status === 'error' && span.kind === 'chat' && span.status === 'ok' && span.costUsd !== undefined)
      failedTurnsCost += ticksOf(span.costUsd);
  }
  return { turns: counted.size, failedTurns, failedTurnsCost, approvalWaitsMs };
}

/** From the message of a turn to the first event of its agent. Milliseconds; `null`: its agent never began. */
export function startWait(spans: readonly TraceSpan[], turn: Pick<TraceTurn, 'span'>): number | null {
  const from = spans.findIndex(({ id }) => id === turn.span);
  const root = spans[from];
  if (root === undefined) return null;
  const end = spans.findIndex(({ parent }, index) => index > from && parent === null);
  const begun = spans.slice(from + 1, end === -1 ? undefined : end).filter(({ kind }) => kind === 'agent');
  return begun.length === 0 ? null : Math.max(0, Math.min(...begun.map(({ at }) => at)) - root.at);
}
