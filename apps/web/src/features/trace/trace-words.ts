import { type ConversationTrace, START_STATUSES, type StartStatus, TRACE_PARTS, type TracePart, type TraceSpan, type TraceTurn } from '@slipway/contracts';
import { duration, money, number, shortNumber } from '../../browser/format.ts';
import { START_NAMES } from '../conversation/start-words.ts';

export const PART_NAMES: Readonly<Record<TracePart, string>> = {
  start: 'Start',
  model: 'Model',
  tool: 'Tools',
  approval: 'Approval',
  condense: 'Summaries',
  other: 'Other',
};
/** Where a turn's time went, in a sentence. */
const PART_WORDS: Readonly<Record<TracePart, string>> = {
  start: 'the start',
  model: 'waiting for the model',
  tool: 'tools',
  approval: 'waiting for approval',
  condense: 'summaries',
  other: 'delivery and the agent’s own work',
};

/** What a span is called: without OpenTelemetry's operation where the line says it otherwise. */
export function labelOf(span: TraceSpan, turn?: { readonly number: number; readonly title: string }): string {
  const subject = span.name.slice(span.name.indexOf(' ') + 1);
  switch (span.kind) {
    case 'turn':
      return turn === undefined ? 'Turn' : `${turn.number}. ${turn.title === '' ? 'Message' : turn.title}`;
    case 'start':
      return 'Start';
    case 'start_step': {
      const status = START_STATUSES.find((each): each is StartStatus => each === subject);
      return status === undefined ? subject : START_NAMES[status];
    }
    case 'agent':
      return 'Run';
    case 'chat':
      return subject;
    case 'tool':
      return subject;
    case 'approval':
      return 'Waiting for approval';
    case 'condense':
      return 'Summary of earlier steps';
    case 'sub_agent':
      return `Sub-agent ${subject}`;
  }
}

/** Which part a span's bar is coloured as. */
export function partOf(kind: TraceSpan['kind']): TracePart {
  return kind === 'chat'
    ? 'model'
    : kind === 'tool' || kind === 'sub_agent'
      ? 'tool'
      : kind === 'start_step'
        ? 'start'
        : kind === 'turn' || kind === 'agent'
          ? 'other'
          : kind;
}

/** Cost and tokens of a call or a turn; empty where there are none. `tokens` says both directions in words. */
export function figuresOf(of: Pick<TraceSpan | TraceTurn, 'promptTokens' | 'completionTokens' | 'costUsd'>): {
  readonly cost: string;
  readonly tokens: string;
} {
  const read = of.promptTokens ?? 0;
  const written = of.completionTokens ?? 0;
  const cost = Number(of.costUsd ?? 0);
  return { cost: cost > 0 ? money(cost) : '', tokens: read + written === 0 ? '' : `${shortNumber(read)} read, ${shortNumber(written)} written` };
}

/** The time of several turns by part. Milliseconds. */
export function partsOf(turns: readonly TraceTurn[]): ReadonlyArray<{ readonly part: TracePart; readonly ms: number }> {
  return TRACE_PARTS.map((part) => ({ part, ms: turns.reduce((sum, turn) => sum + turn.parts[part], 0) })).filter(({ ms }) => ms > 0);
}

/** What took long, in one line. */
export function summaryOf({ turns, spans, asOf, startedAt }: ConversationTrace): string {
  const parts = partsOf(turns);
  const total = parts.reduce((sum, { ms }) => sum + ms, 0);
  const most = parts.reduce<(typeof parts)[number] | null>((best, each) => (best === null || each.ms > best.ms ? each : best), null);
  if (most === null || total === 0) return 'Nothing has taken any time yet.';
  const now = Date.parse(asOf) - Date.parse(startedAt);
  const wanted = new Set(turns.flatMap(({ longest }) => longest.slice(0, 1)));
  const length = (span: TraceSpan): number => span.ms ?? Math.max(0, now - span.at);
  const longest = spans
    .filter(({ id }) => wanted.has(id))
    .reduce<TraceSpan | null>((best, each) => (best === null || length(each) > length(best) ? each : best), null);
  const share = Math.round((most.ms / total) * 100);
  const tail = longest === null ? '' : ` Longest step: ${labelOf(longest)}, ${duration(length(longest))}.`;
  return `${duration(most.ms)} of ${duration(total)} (${share} %) went to ${PART_WORDS[most.part]}.${tail}`;
}

/** A difference of clocks below this is no more than the way of an event. Milliseconds. */
const CLOCKS_AGREE_MS = 2_000;

/** What the clocks of sandbox and platform say of the bars; `null` while they agree. */
export function clockNoteOf(spans: readonly TraceSpan[]): string | null {
  const most = spans.reduce((far, { clockOffsetMs = 0 }) => (Math.abs(clockOffsetMs) > Math.abs(far) ? clockOffsetMs : far), 0);
  if (Math.abs(most) < CLOCKS_AGREE_MS) return null;
  return `The sandbox’s clock was ${duration(Math.abs(most))} ${most < 0 ? 'ahead' : 'behind'}. Steps of the sandbox may be off by as much beside those of the platform.`;
}

/** Calls, tools and cost of several turns. */
export function totalsOf(turns: readonly TraceTurn[]): string {
  const sum = (pick: (turn: TraceTurn) => number): number => turns.reduce((total, turn) => total + pick(turn), 0);
  const [calls, tools, cost] = [sum((turn) => turn.calls), sum((turn) => turn.tools), sum((turn) => Number(turn.costUsd))];
  const plural = (count: number, one: string): string => `${number(count)} ${one}${count === 1 ? '' : 's'}`;
  return [plural(turns.length, 'turn'), plural(calls, 'model call'), plural(tools, 'tool call'), money(cost)].join(' · ');
}
