import {
  type ConversationTrace,
  START_STATUSES,
  type StartStatus,
  TRACE_PARTS,
  type TracePart,
  type TraceSpan,
  type TraceTurn,
} from '@slipway/contracts/conversations';
import { duration, money, shortNumber } from '../../browser/format.ts';
import type { MessageKey, Translate } from '../../messages/translate.ts';
import { START_NAMES } from '../conversation/start-words.ts';

export const PART_NAMES: Readonly<Record<TracePart, MessageKey>> = {
  start: 'common.start',
  model: 'common.model',
  tool: 'trace.tools',
  approval: 'trace.approval',
  condense: 'trace.summaries',
  other: 'trace.other',
};
/** Where a turn's time went, in a sentence. */
const PART_WORDS: Readonly<Record<TracePart, MessageKey>> = {
  start: 'trace.theStart',
  model: 'trace.waitingForTheModel',
  tool: 'trace.toolsWord',
  approval: 'trace.waitingForApproval',
  condense: 'trace.summariesWord',
  other: 'trace.deliveryAndTheAgentsOwn',
};

/** What a span is called: without OpenTelemetry's operation where the line says it otherwise. */
export function labelOf(
  t: Translate,
  span: TraceSpan,
  turn?: { readonly number: number; readonly title: string },
): string {
  const subject = span.name.slice(span.name.indexOf(' ') + 1);
  switch (span.kind) {
    case 'turn':
      return turn === undefined
        ? t('trace.turn')
        : `${turn.number}. ${turn.title === '' ? t('trace.message') : turn.title}`;
    case 'start':
      return t('common.start');
    case 'start_step': {
      const status = START_STATUSES.find((each): each is StartStatus => each === subject);
      return status === undefined ? subject : t(START_NAMES[status]);
    }
    case 'agent':
      return t('trace.run');
    case 'chat':
      return subject;
    case 'tool':
      return subject;
    case 'approval':
      return t('trace.waitingForApproval2');
    case 'condense':
      return t('trace.summaryOfEarlierSteps');
    case 'sub_agent':
      return t('trace.subAgent', { subject });
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
export function figuresOf(
  t: Translate,
  of: Pick<TraceSpan | TraceTurn, 'promptTokens' | 'completionTokens' | 'costUsd'>,
): {
  readonly cost: string;
  readonly tokens: string;
} {
  const read = of.promptTokens ?? 0;
  const written = of.completionTokens ?? 0;
  const cost = Number(of.costUsd ?? 0);
  return {
    cost: cost > 0 ? money(cost) : '',
    tokens:
      read + written === 0 ? '' : t('trace.readWritten', { read: shortNumber(read), written: shortNumber(written) }),
  };
}

/** The time of several turns by part. Milliseconds. */
export function partsOf(turns: readonly TraceTurn[]): ReadonlyArray<{ readonly part: TracePart; readonly ms: number }> {
  return TRACE_PARTS.map((part) => ({ part, ms: turns.reduce((sum, turn) => sum + turn.parts[part], 0) })).filter(
    ({ ms }) => ms > 0,
  );
}

/** What took long, in one line. */
export function summaryOf(t: Translate, { turns, spans, asOf, startedAt }: ConversationTrace): string {
  const parts = partsOf(turns);
  const total = parts.reduce((sum, { ms }) => sum + ms, 0);
  const most = parts.reduce<(typeof parts)[number] | null>(
    (best, each) => (best === null || each.ms > best.ms ? each : best),
    null,
  );
  if (most === null || total === 0) return t('trace.noTimeRecordedYet');
  const now = Date.parse(asOf) - Date.parse(startedAt);
  const wanted = new Set(turns.flatMap(({ longest }) => longest.slice(0, 1)));
  const length = (span: TraceSpan): number => span.ms ?? Math.max(0, now - span.at);
  const longest = spans
    .filter(({ id }) => wanted.has(id))
    .reduce<TraceSpan | null>((best, each) => (best === null || length(each) > length(best) ? each : best), null);
  const share = Math.round((most.ms / total) * 100);
  const tail =
    longest === null ? '' : t('trace.longestStep', { step: labelOf(t, longest), length: duration(length(longest)) });
  return t('trace.ofWentTo', {
    ms: duration(most.ms),
    total: duration(total),
    share,
    part: t(PART_WORDS[most.part]),
    tail,
  });
}

/** A difference of clocks below this is no more than the way of an event. Milliseconds. */
const CLOCKS_AGREE_MS = 2_000;

/** What the clocks of sandbox and platform say of the bars; `null` while they agree. */
export function clockNoteOf(t: Translate, spans: readonly TraceSpan[]): string | null {
  const most = spans.reduce(
    (far, { clockOffsetMs = 0 }) => (Math.abs(clockOffsetMs) > Math.abs(far) ? clockOffsetMs : far),
    0,
  );
  if (Math.abs(most) < CLOCKS_AGREE_MS) return null;
  return t(most < 0 ? 'trace.clockAhead' : 'trace.clockBehind', { by: duration(Math.abs(most)) });
}

/** Calls, tools and cost of several turns. */
export function totalsOf(t: Translate, turns: readonly TraceTurn[]): string {
  const sum = (pick: (turn: TraceTurn) => number): number => turns.reduce((total, turn) => total + pick(turn), 0);
  const [calls, tools, cost] = [
    sum((turn) => turn.calls),
    sum((turn) => turn.tools),
    sum((turn) => Number(turn.costUsd)),
  ];
  return t('trace.totals', { turns: turns.length, calls, tools, cost: money(cost) });
}
