import { ConversationEvent, type EventOf, type LoggedEvent, stateValueOf } from '@slipway/contracts/events';
import { appendToTimeline, EMPTY_TIMELINE, joinTimelines, type Timeline } from './timeline.ts';
import type { Row } from './timeline-row.ts';

/** Consecutive events of the log, and what they say to the parts of the screen. */
export interface Stretch {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly timeline: Timeline;
  /** A start came to its end in it. */
  readonly hadWorkspace: boolean;
  /** The last of each; `null`: there is none. */
  readonly analysis: EventOf<'SecurityAnalysisEvent'> | null;
  readonly context: ContextUse | null;
  /** When a run began or went on. ISO time. */
  readonly beganAt: string | null;
}

export interface ContextUse {
  readonly used: number;
  readonly window: number;
}

/** @param events consecutive, oldest first. `null`: there are none. */
export function stretchOf(events: readonly LoggedEvent[]): Stretch | null {
  const [first, last] = [events[0], events.at(-1)];
  if (first === undefined || last === undefined) return null;
  return {
    firstSeq: first.seq,
    lastSeq: last.seq,
    timeline: appendToTimeline(EMPTY_TIMELINE, events.filter(isKnown)),
    hadWorkspace: events.some(({ event }) => stateValueOf(event, 'start_task')?.status === 'READY'),
    analysis: lastOf(events, (event) => (event.kind === 'SecurityAnalysisEvent' ? event : null)),
    context: lastOf(events, contextOf),
    beganAt: lastOf(events, (event) =>
      stateValueOf(event, 'execution_status') === 'running' ? event.timestamp : null,
    ),
  };
}

/** Two neighbours as one. */
export function joinStretches(older: Stretch, newer: Stretch): Stretch {
  return {
    firstSeq: older.firstSeq,
    lastSeq: newer.lastSeq,
    timeline: joinTimelines(older.timeline, newer.timeline),
    hadWorkspace: older.hadWorkspace || newer.hadWorkspace,
    analysis: newer.analysis ?? older.analysis,
    context: newer.context ?? older.context,
    beganAt: newer.beganAt ?? older.beganAt,
  };
}

/** The rows of a stretch that stands apart, what is missing as one row, and the rows after it. */
export function rowsAround(apart: Stretch | null, rows: readonly Row[], firstSeq: number): readonly Row[] {
  if (apart === null) return rows;
  const seq = apart.lastSeq + 1;
  return [...apart.timeline.rows, { kind: 'gap', key: 'gap', seq, events: firstSeq - seq }, ...rows];
}

const KINDS = new Set<string>(ConversationEvent.options.map((option) => option.shape.kind.value));

/** A newer server may write kinds that this page was not built for: they count as read and show nothing. */
export function isKnown({ event }: LoggedEvent): boolean {
  return KINDS.has(event.kind);
}

/** What the agent's last call took of its model's context. */
export function contextOf(event: ConversationEvent): ContextUse | null {
  const usage = stateValueOf(event, 'stats')?.usage_to_metrics?.['agent']?.accumulated_token_usage;
  return usage == null || usage.context_window <= 0 || usage.per_turn_token <= 0
    ? null
    : { used: usage.per_turn_token, window: usage.context_window };
}

/** The last that events say; `null`: none says it. */
function lastOf<T>(events: readonly LoggedEvent[], read: (event: ConversationEvent) => T | null): T | null {
  for (let index = events.length - 1; index >= 0; index -= 1) {
    const event = events[index]?.event;
    const found = event === undefined ? null : read(event);
    if (found !== null) return found;
  }
  return null;
}
