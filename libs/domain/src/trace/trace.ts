import { MAX_SPAN_NAME, type TraceSpan, type TraceTurn } from '@slipway/contracts/conversations';
import { addCalls } from './calls.js';
import { LOST, type TraceCollector } from './collector.js';
import { markCriticalPath } from './critical-path.js';
import { type Draft, endDraft, spanName, type TurnCopy } from './draft.js';
import { longestOf, partsOf } from './parts.js';
import { derivedTraceId, isTraceId, spanId } from './span-ids.js';
import type { QueuedMessage, TraceCall } from './trace-event.js';
import { sumUsd } from './usd.js';

export interface TraceInput {
  /** Messages that wait in the inbox, oldest first. Only at the end of a log. */
  readonly queued: readonly QueuedMessage[];
  /** Rows of the ledger; `null` where they cannot be had, and calls are taken from the log. */
  readonly calls: readonly TraceCall[] | null;
  /** Most spans of the answer. */
  readonly limit: number;
  /** May what has no end still be under way? */
  readonly live: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export interface Trace {
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly turns: readonly TraceTurn[];
  readonly spans: readonly TraceSpan[];
}

/** Turns and spans of what a collector has taken. Leaves the collector as it is, so that it can take more. */
export function traceOf(collector: TraceCollector, input: TraceInput): Trace {
  const turns = withQueued(collector, copyOf(collector), input);
  const traceIds = addCalls(collector.conversationId, turns, input.calls);
  turns.forEach((turn, index) => {
    const isLast = index === turns.length - 1 || turns.slice(index + 1).every(({ seq }) => seq === null);
    const next = turns[index + 1];
    finish(turn, {
      collector,
      input,
      isLive: input.live && isLast,
      bound: next === undefined || next.seq === null ? collector.lastAt : next.at,
    });
  });
  const startedAt = Math.min(
    ...turns.map(({ root }) => root.start),
    turns.length === 0 ? input.now : Number.POSITIVE_INFINITY,
  );
  const spans: TraceSpan[] = [];
  for (const { root } of turns) {
    markCriticalPath(root, input.now);
    emit(root, null, startedAt, spans);
  }
  return {
    startedAt,
    turns: turns.map((turn) => describe(turn, collector.conversationId, traceIds.get(turn) ?? null, input.now)),
    spans: spans.slice(0, input.limit),
  };
}

function copyOf(collector: TraceCollector): { turns: TurnCopy[]; starts: Draft[] } {
  const copies = new Map<Draft, Draft>();
  const copy = (draft: Draft): Draft => {
    const made: Draft = { ...draft, children: draft.children.map(copy) };
    copies.set(draft, made);
    return made;
  };
  const known = (draft: Draft): Draft[] => {
    const made = copies.get(draft);
    return made === undefined ? [] : [made];
  };
  const turns = collector.turns.map((turn) => {
    const root = copy(turn.root);
    return {
      ...turn,
      root,
      seq: turn.root.seq,
      agents: turn.agents.flatMap(known),
      condenses: turn.condenses.flatMap(known),
      subAgents: turn.subAgents.flatMap(known),
      logged: turn.logged.map((each) => ({ ...each })),
    };
  });
  return { turns, starts: collector.starts.waiting.map(copy) };
}

/** Adds turns of messages that wait, and gives starts without a turn one. */
function withQueued(
  collector: TraceCollector,
  { turns, starts }: { turns: TurnCopy[]; starts: Draft[] },
  input: TraceInput,
): TurnCopy[] {
  const { conversationId } = collector;
  const bare = (messageId: string, at: number, traceId: string | null): TurnCopy => ({
    root: {
      id: spanId(conversationId, messageId, 'turn'),
      kind: 'turn',
      name: spanName('conversation turn'),
      seq: null,
      start: at,
      end: null,
      status: 'running',
      code: null,
      epoch: collector.epoch,
      children: [],
    },
    messageId,
    title: '',
    traceId,
    at,
    seq: null,
    agents: [],
    condenses: [],
    subAgents: [],
    logged: [],
  });
  const known = new Set(turns.map(({ messageId }) => messageId));
  const waiting = input.queued
    .filter(({ id }) => !known.has(id))
    .map(({ id, sentAt, traceId }) => bare(id, sentAt, traceId));
  const [earliest] = starts;
  if (earliest !== undefined && turns.length + waiting.length === 0)
    waiting.push(bare(conversationId, earliest.start, null));
  const [first] = waiting;
  for (const start of starts) {
    // A start begins for the message that waits longest, if that was there by then.
    const own = first !== undefined && (turns.length === 0 || first.at <= start.start + 1_000) ? first : turns.at(-1);
    if (own === undefined) continue;
    own.root.children.push(start);
    own.root.start = Math.min(own.root.start, start.start);
  }
  if (turns.length + waiting.length === 0 && (input.calls?.length ?? 0) > 0)
    waiting.push(bare(conversationId, Math.min(...(input.calls ?? []).map(({ at }) => Date.parse(at))), null));
  return [...turns, ...waiting];
}

interface Ending {
  readonly collector: TraceCollector;
  readonly input: TraceInput;
  readonly isLive: boolean;
  /** When the next turn began, or the log ended. Milliseconds since 1970. */
  readonly bound: number;
}

/** Ends what is open, sets the turn's own end, and cuts children to their parents. */
function finish(turn: TurnCopy, ending: Ending): void {
  const { root } = turn;
  for (const child of root.children)
    close(
      child,
      ending,
      ending.isLive && (child.kind === 'agent' || child.kind === 'start' || ending.collector.isRunning),
    );
  const last = root.children.reduce(
    (end, child) => Math.max(end, child.end ?? ending.input.now),
    Math.max(root.start, turn.seq === null ? root.start : turn.at),
  );
  const failed = root.children.findLast(({ kind }) => kind === 'start' || kind === 'agent');
  const isWaiting = turn.agents.length === 0 && failed?.status !== 'error';
  if (root.children.some(({ end }) => end === null) || (ending.isLive && isWaiting)) root.end = null;
  else endDraft(root, last, failed?.status === 'error' ? failed.code : null);
  if (!ending.isLive && turn.seq === null && root.end !== null && turn.agents.length === 0)
    endDraft(root, root.end, failed?.code ?? 'message.undelivered');
  cut(root, root.start, root.end ?? Math.max(root.start, ending.input.now), root.end === null);
}

/** @param mayRun whether what is open above it may still run. */
function close(draft: Draft, ending: Ending, mayRun: boolean): void {
  const runs = draft.end === null && mayRun;
  for (const child of draft.children) close(child, ending, runs);
  if (draft.end !== null || runs) return;
  const last = draft.children.reduce(
    (end, child) => Math.max(end, child.end ?? end),
    Math.max(draft.start, ending.bound),
  );
  endDraft(draft, last, draft.epoch < ending.collector.epoch || draft.kind === 'agent' ? LOST : 'run.ended');
}

function cut(draft: Draft, from: number, to: number, open: boolean): void {
  draft.start = Math.min(Math.max(draft.start, from), to);
  if (draft.end !== null) draft.end = Math.min(Math.max(draft.end, draft.start), to);
  else if (!open) draft.end = to;
  for (const child of draft.children) cut(child, draft.start, draft.end ?? to, draft.end === null);
  draft.children.sort(
    (a, b) =>
      a.start - b.start ||
      (a.seq ?? Number.MAX_SAFE_INTEGER) - (b.seq ?? Number.MAX_SAFE_INTEGER) ||
      (a.id < b.id ? -1 : 1),
  );
}

function emit(draft: Draft, parent: Draft | null, startedAt: number, spans: TraceSpan[]): void {
  const { call } = draft;
  spans.push({
    id: draft.id,
    parent: parent?.id ?? null,
    kind: draft.kind,
    name: draft.name,
    seq: draft.seq,
    at: draft.start - startedAt,
    ms: draft.end === null ? null : draft.end - draft.start,
    status: draft.end === null ? 'running' : draft.status === 'running' ? 'ok' : draft.status,
    ...(draft.code === null || draft.end === null ? {} : { code: draft.code.slice(0, 100) }),
    ...(call === undefined
      ? {}
      : {
          promptTokens: call.prompt,
          completionTokens: call.completion,
          ...(call.cached > 0 ? { cachedTokens: call.cached } : {}),
          ...(call.cost === null ? {} : { costUsd: call.cost }),
          ...(call.firstByteMs === null ? {} : { firstByteMs: call.firstByteMs }),
          ...(call.attempts > 1 ? { attempts: call.attempts } : {}),
          ...(call.provider === null ? {} : { provider: call.provider.slice(0, 40) }),
        }),
    ...(draft.critical === true ? { critical: true as const } : {}),
    ...(draft.clockOffsetMs === undefined ? {} : { clockOffsetMs: draft.clockOffsetMs }),
  });
  for (const child of draft.children) emit(child, draft, startedAt, spans);
}

function describe(turn: TurnCopy, conversationId: string, ledgerTraceId: string | null, now: number): TraceTurn {
  const { root, messageId } = turn;
  const all = flat(root);
  const calls = all.flatMap(({ call }) => (call === undefined ? [] : [call]));
  const kept = [turn.traceId, ledgerTraceId].find(isTraceId);
  return {
    span: root.id,
    traceId: kept ?? derivedTraceId(conversationId, messageId),
    message: messageId,
    title: turn.title.slice(0, MAX_SPAN_NAME).toWellFormed(),
    parts: partsOf(root, now),
    calls: calls.length,
    tools: all.filter(({ kind }) => kind === 'tool').length,
    promptTokens: calls.reduce((sum, { prompt }) => sum + prompt, 0),
    completionTokens: calls.reduce((sum, { completion }) => sum + completion, 0),
    costUsd: sumUsd(calls.flatMap(({ cost }) => (cost === null ? [] : [cost]))),
    longest: longestOf(all, now).map(({ id }) => id),
  };
}

function flat(draft: Draft): Draft[] {
  const found: Draft[] = [];
  const walk = (each: Draft): void => {
    found.push(each);
    each.children.forEach(walk);
  };
  walk(draft);
  return found;
}
