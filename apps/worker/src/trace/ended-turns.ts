import { type LedgerCall, MAX_TRACE_SPANS } from '@slipway/contracts/conversations';
import type { SqlPool } from '@slipway/db/sql';
import { type CollectedTrace, collectTrace } from '@slipway/db/trace';
import type { Clock } from '@slipway/domain';
import { type Trace, traceOf } from '@slipway/domain/trace';
import type { LlmGatewayClient } from '../clients/llm-gateway.client.js';

/** Of one turn; about 60 MB while it is sent. A longer one is not exported. */
export const MAX_TURN_SPANS = 100_000;

export interface EndedTurns {
  readonly trace: Trace;
  readonly turns: Trace['turns'];
  /** Position up to which everything is in them. */
  readonly upto: number;
  /** The log was read to its end. */
  readonly isWhole: boolean;
  /** The first of them goes beyond the limit of spans, and none is here. */
  readonly isTooLong: boolean;
}

/** Turns that have ended, up to the first that has not. */
function endedTurns(trace: Trace, { collector, conversation }: CollectedTrace, after: number): EndedTurns {
  const roots = new Map(trace.spans.filter(({ parent }) => parent === null).map((root) => [root.id, root]));
  const turns: Array<Trace['turns'][number]> = [];
  const isWhole = collector.cut === null;
  for (const turn of trace.turns) {
    const root = roots.get(turn.span);
    // The one that was under way where this part begins has been exported.
    if (root?.seq !== null && root !== undefined && root.seq <= after) continue;
    const isCut = collector.cut !== null && turn === trace.turns.at(-1);
    // A turn that no part holds whole keeps nothing behind it from being exported.
    if (isCut && turns.length === 0 && collector.cut !== null)
      return { trace, turns, upto: collector.cut.seq - 1, isWhole, isTooLong: true };
    if (root === undefined || root.seq === null || root.status === 'running' || isCut)
      return { trace, turns, upto: Math.max(after, (root?.seq ?? after + 1) - 1), isWhole, isTooLong: false };
    turns.push(turn);
  }
  return {
    trace,
    turns,
    upto: collector.cut === null ? Math.max(after, conversation.head) : collector.cut.seq - 1,
    isWhole,
    isTooLong: false,
  };
}

export interface TraceSource {
  readonly pool: SqlPool;
  readonly gateway: Pick<LlmGatewayClient, 'calls'>;
  readonly clock: Clock;
}

/**
 * The turns after a position that have ended, as far as `limit` spans go; `null`: the conversation is gone. Rejects
 * when the gateway does not answer.
 */
export async function readEndedTurns(
  { pool, gateway, clock }: TraceSource,
  { id, orgId, after }: { readonly id: string; readonly orgId: string; readonly after: number },
  limit: number,
  signal: AbortSignal,
): Promise<EndedTurns | null> {
  const read = await collectTrace(pool, orgId, id, { after, limit });
  if (read === null) return null;
  const { collector, conversation, from } = read;
  const calls = await readCalls(gateway, { orgId, id, from, to: collector.cut?.at ?? null }, signal);
  const live = collector.cut !== null || conversation.desired === 'run' || conversation.status === 'waiting';
  const trace = traceOf(collector, {
    queued: [],
    calls,
    live,
    limit: Number.POSITIVE_INFINITY,
    now: clock.now().getTime(),
  });
  return endedTurns(trace, read, after);
}

/** Of the ledger, page by page. */
async function readCalls(
  gateway: TraceSource['gateway'],
  {
    orgId,
    id,
    from,
    to,
  }: { readonly orgId: string; readonly id: string; readonly from: number | null; readonly to: number | null },
  signal: AbortSignal,
): Promise<LedgerCall[]> {
  const found = new Map<string, LedgerCall>();
  for (let begin = from; found.size < MAX_TURN_SPANS; ) {
    const known = found.size;
    const { calls, more } = await gateway.calls(orgId, id, { from: begin, to, limit: MAX_TRACE_SPANS }, signal);
    for (const call of calls) found.set(call.id, call);
    // Calls that began in the millisecond of the last one come again.
    begin = Date.parse(calls.at(-1)?.at ?? '');
    if (!more || found.size === known) break;
  }
  return [...found.values()];
}
