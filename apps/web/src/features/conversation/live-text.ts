import {
  ConversationEvent,
  isUpdateOf,
  type LoggedEvent,
  type StreamingDelta,
  stateValueOf,
} from '@slipway/contracts/events';
import { ansiText } from './ansi.ts';

/**
 * Text that the model is still writing, or that a tool tells while it is at work. The durable event brings all of it,
 * or what came of it.
 */
export interface LiveText {
  readonly responseId: string;
  readonly content: string;
  readonly reasoning: string;
  readonly progress: string;
  /** How far each channel has come, in UTF-16 code units of the model's own text. */
  readonly reached: Readonly<Record<StreamingDelta['channel'], number>>;
}

/** Stands where pieces are missing: those of before the page was open, and those lost on the way. */
export const MISSING = '…';

/**
 * The text after one more piece. Pieces may be lost, joined, repeated or late: what is here is never shown twice, what
 * comes is shown at once, and what is missing between them is marked.
 */
export function applyDelta(live: LiveText | null, delta: StreamingDelta): LiveText {
  const { channel, offset } = delta;
  const current =
    live?.responseId === delta.responseId
      ? live
      : { responseId: delta.responseId, content: '', reasoning: '', progress: '', reached: NOTHING };
  const reached = current.reached[channel];
  const end = offset + delta.text.length;
  // The text from its beginning heals what was missing.
  if (offset === 0 && end >= reached && delta.text !== '')
    return { ...current, [channel]: delta.text, reached: { ...current.reached, [channel]: end } };
  if (end <= reached) return current;
  const before = current[channel];
  const joint = offset <= reached ? '' : before === '' ? `${MISSING} ` : `\n\n${MISSING} `;
  const after = before + joint + delta.text.slice(Math.max(0, reached - offset));
  return {
    ...current,
    [channel]: channel === 'progress' ? endOf(after) : after,
    reached: { ...current.reached, [channel]: end },
  };
}

/**
 * The progress that stands below the timeline after `call` has printed. Of calls that work beside each other, as those
 * of sub-agents do, it is that of one until it has ended; each has its own in its row.
 */
export function liveProgress(
  live: LiveText | null,
  printed: ReadonlyMap<string, LiveText>,
  call: string,
): LiveText | null {
  const isOther = live !== null && live.responseId !== call && live.progress !== '';
  return isOther ? live : (printed.get(call) ?? live);
}

/** Most of a tool's output that is kept while it is at work: its end. UTF-16 code units. */
const MAX_PROGRESS = 200_000;

function endOf(progress: string): string {
  if (progress.length <= MAX_PROGRESS) return progress;
  // Half of it at once, so that the lines that are there do not move with each new one.
  const rest = progress.slice(-MAX_PROGRESS / 2);
  return `${MISSING}\n${rest.slice(rest.indexOf('\n') + 1)}`;
}

const NOTHING = { content: 0, reasoning: 0, progress: 0 };

/** The durable event with the same response id replaces the live text; the end of a run takes what is left. */
export function endsLiveText(live: LiveText, { event }: Pick<LoggedEvent, 'event'>): boolean {
  if (isUpdateOf(event, 'sub_agent')) {
    const inner = ConversationEvent.safeParse(stateValueOf(event, 'sub_agent')?.event).data;
    // An error does not name its action. The next piece of a call that works on brings its text back.
    if (inner?.kind === 'AgentErrorEvent') return live.progress !== '';
    return inner?.kind === 'ObservationEvent' && inner.action_id === live.responseId;
  }
  if (event.kind === 'MessageEvent' || event.kind === 'ActionEvent') return event.llm_response_id === live.responseId;
  if (event.kind === 'ObservationEvent') return event.action_id === live.responseId;
  if (event.kind === 'AgentErrorEvent') return live.progress !== '';
  const status = stateValueOf(event, 'execution_status');
  if (status !== undefined) return status !== 'running';
  return event.kind === 'InterruptEvent' || event.kind === 'ConversationErrorEvent';
}

/** Most lines of a tool's progress that are shown. */
const PROGRESS_LINES = 3;
/** The end of the progress in which they are looked for. UTF-16 code units. */
const LOOKED_AT = 16_000;
/** How far it is, at the end of a line or alone. */
const COUNT = /(?:^| \()[\d.]+(?: of [\d.]+)?\)?$/;

/** The last lines that a tool printed; of those that say the same and only count on, the last. */
export function progressLines(progress: string): readonly string[] {
  const lines: string[] = [];
  for (const line of ansiText(progress.slice(-LOOKED_AT)).trimEnd().split('\n').toReversed()) {
    if (lines.length > 0 && lines.at(-1)?.replace(COUNT, '') === line.replace(COUNT, '')) continue;
    if (lines.length === PROGRESS_LINES) break;
    lines.push(line);
  }
  return lines.reverse();
}
