import { type ConversationTurn, MAX_TURN_FAILURES, MAX_TURN_LINE, MAX_TURNS } from '@slipway/contracts/conversations';
import type { MarkRow } from './lookup.queries.js';

/**
 * Turns of marks in ascending order. Those before the first message are of no turn.
 * @returns at most `MAX_TURNS`, and whether there were more
 */
export function turnsOf(marks: readonly MarkRow[]): { turns: ConversationTurn[]; more: boolean } {
  const turns: ConversationTurn[] = [];
  for (const { seq, at, mark, title } of marks) {
    if (mark === 'message') {
      if (turns.length === MAX_TURNS) return { turns, more: true };
      turns.push({ seq, at: timeOf(at), text: firstLine(title), edits: 0, failures: [], questions: 0 });
      continue;
    }
    const turn = turns.at(-1);
    if (turn === undefined) continue;
    if (mark === 'edit') turn.edits += 1;
    else if (mark === 'question') turn.questions += 1;
    else if (turn.failures.length < MAX_TURN_FAILURES) turn.failures.push(seq);
  }
  return { turns, more: false };
}

/** A time as a sandbox wrote it; the beginning of time where it wrote none. */
export function timeOf(json: string): string {
  const at = Date.parse(json.replaceAll('"', ''));
  return new Date(Number.isNaN(at) ? 0 : at).toISOString();
}

/** First line of what the beginning of a JSON string says. */
function firstLine(json: string | null): string {
  if (json === null) return '';
  const whole = json.slice(1).replace(/"$/, '');
  const [line = ''] = whole.replace(/^(?:\\[nrt]|\s)+/, '').split(/\\[nr]/, 1);
  // Cut anywhere, perhaps in an escape; those of single characters read as what they stand for.
  const text = line.replaceAll(/\\(["\\/t])/g, (_all, sign: string) => (sign === 't' ? ' ' : sign));
  return text.length > MAX_TURN_LINE ? `${text.slice(0, MAX_TURN_LINE - 1)}…` : text;
}
