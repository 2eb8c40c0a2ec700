import { type Draft, spanName, type TurnCopy } from './draft.js';
import { spanId } from './span-ids.js';
import type { TraceCall } from './trace-event.js';

/** Clocks of gateway and sandbox may be apart by so much and a call still counts as inside. Milliseconds. */
const SLACK_MS = 1_000;
/** How far the end of a call by the ledger may be from what the log says of it. Milliseconds. */
const MATCH_MS = 10_000;
/** A summary is written so soon after the call that made it. Milliseconds. */
const CONDENSE_MS = 60_000;

type LoggedEntry = TurnCopy['logged'][number];

/** Hangs each model call into its turn. Answers the trace ids that the ledger has for turns. */
export function addCalls(
  conversationId: string,
  turns: readonly TurnCopy[],
  calls: readonly TraceCall[] | null,
): ReadonlyMap<TurnCopy, string> {
  const traceIds = new Map<TurnCopy, string>();
  if (calls === null) {
    for (const turn of turns)
      for (const entry of turn.logged) place(turn, chatOfLog(conversationId, entry), purposeOf(entry.call.usage));
    return traceIds;
  }
  const logged = new LoggedCalls(turns);
  for (const call of [...calls].sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || (a.id < b.id ? -1 : 1))) {
    const match = logged.take(call);
    const turn = match?.turn ?? turnAt(turns, Date.parse(call.at));
    if (turn === undefined) continue;
    if (call.purpose === 'agent' && !traceIds.has(turn)) traceIds.set(turn, call.traceId);
    place(turn, chatOfLedger(conversationId, call, match?.entry ?? null), call.purpose);
  }
  return traceIds;
}

/** The log's record of calls: by it a row of the ledger finds its turn and its place in the timeline. */
class LoggedCalls {
  private readonly byTokens = new Map<string, Array<{ readonly turn: TurnCopy; readonly entry: LoggedEntry }>>();

  constructor(turns: readonly TurnCopy[]) {
    for (const turn of turns) {
      for (const entry of turn.logged) {
        const key = `${entry.call.prompt}/${entry.call.completion}`;
        const list = this.byTokens.get(key) ?? [];
        list.push({ turn, entry });
        this.byTokens.set(key, list);
      }
    }
  }

  /** The same tokens, recorded soonest after the call's end. */
  take(call: TraceCall): { readonly turn: TurnCopy; readonly entry: LoggedEntry } | null {
    if (call.status === 'failed') return null;
    const end = Date.parse(call.at) + call.latencyMs;
    const list = this.byTokens.get(`${call.prompt}/${call.completion}`) ?? [];
    // Entries are in the order of the log, and calls come in their order: what was taken is in front.
    while (list[0]?.entry.used === true) list.shift();
    const found = list.slice(0, 50).find(({ entry }) => !entry.used && Math.abs(entry.at - end) <= MATCH_MS);
    if (found === undefined) return null;
    found.entry.used = true;
    return found;
  }
}

function turnAt(turns: readonly TurnCopy[], at: number): TurnCopy | undefined {
  return turns.findLast((turn) => turn.seq !== null && turn.at <= at) ?? turns[0];
}

/** A usage of the agent (`task:explore`) as the gateway's purpose. */
function purposeOf(usage: string): string {
  return usage.startsWith('task:') ? 'sub-agent' : usage;
}

function place(turn: TurnCopy, chat: Draft, purpose: string): void {
  parentOf(turn, chat, purpose).children.push(chat);
}

function parentOf(turn: TurnCopy, chat: Draft, purpose: string): Draft {
  const end = chat.end ?? chat.start;
  if (purpose === 'condenser') {
    const condense = turn.condenses.find(
      (each) => (each.end ?? Number.POSITIVE_INFINITY) >= end - SLACK_MS && each.start - end < CONDENSE_MS,
    );
    if (condense !== undefined) {
      condense.start = Math.min(condense.start, chat.start);
      return condense;
    }
  }
  if (purpose === 'sub-agent') {
    const sub = turn.subAgents.findLast((each) => covers(each, chat.start));
    if (sub !== undefined) return sub;
  }
  if (purpose === 'title' || purpose === 'ask-agent' || purpose === 'edit') return turn.root;
  return turn.agents.findLast((each) => covers(each, chat.start)) ?? turn.root;
}

function covers(draft: Draft, at: number): boolean {
  return draft.start - SLACK_MS <= at && (draft.end === null || at <= draft.end);
}

/**
 * @param recorded the log's record: a reader that hangs up once it has the answer counts as aborted at the gateway,
 * though it was answered.
 */
function chatOfLedger(conversationId: string, call: TraceCall, logged: LoggedEntry | null): Draft {
  const start = Date.parse(call.at);
  const failure = call.status === 'ok' || logged !== null ? null : (call.errorCode ?? `model.${call.status}`);
  return {
    id: spanId(conversationId, call.id, 'chat'),
    kind: 'chat',
    name: spanName('chat', call.model),
    seq: logged?.seq ?? null,
    start,
    end: start + Math.round(call.latencyMs),
    status: failure === null ? 'ok' : 'error',
    code: failure,
    epoch: 0,
    children: [],
    call: {
      prompt: call.prompt,
      completion: call.completion,
      cached: call.cached,
      cost: call.priced ? call.cost : null,
      firstByteMs: call.firstByteMs === null ? null : Math.round(call.firstByteMs),
      attempts: call.attempts,
      provider: call.provider ?? null,
    },
  };
}

function chatOfLog(conversationId: string, { id, seq, at, call }: LoggedEntry): Draft {
  return {
    id: spanId(conversationId, id, 'chat'),
    kind: 'chat',
    name: spanName('chat', call.model),
    seq,
    start: at - Math.round(call.latencyMs),
    end: at,
    status: 'ok',
    code: null,
    epoch: 0,
    children: [],
    call: {
      prompt: call.prompt,
      completion: call.completion,
      cached: call.cached,
      cost: call.cost,
      firstByteMs: null,
      attempts: 1,
      provider: null,
    },
  };
}
