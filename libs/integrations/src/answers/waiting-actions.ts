import { createHash } from 'node:crypto';
import { BLOB_MARKER, type EventOf } from '@slipway/contracts/events';
import { maskedText } from '../prompt/masked-text.js';
import { INVISIBLE } from '../prompt/shown-text.js';

/** What an agent waits with, as a thread shows it. */
export interface WaitingActions {
  /** Literal, bounded, without credentials; unseen characters are spelt out. */
  readonly text: string;
  /**
   * Whether the text is complete. An incomplete one cannot be approved from a thread: no user has seen the whole
   * action.
   */
  readonly whole: boolean;
  /** Names these actions as they are shown. An answer to anything else has another name. */
  readonly name: string;
}

/** Of all of it. Counted as a chat counts them whose three letters `& < >` become longer. Characters. */
const MAX_TEXT = 1_800;
const MAX_LINES = 60;

/** @param pending the actions, oldest first. The same everywhere for the same actions. */
export function waitingActions(conversationId: string, pending: ReadonlyArray<EventOf<'ActionEvent'>>): WaitingActions {
  const all = pending.map(actionText).join('\n\n');
  const text = bounded(all);
  const whole = text === all && !pending.some(({ action }) => isPutAside(action));
  const shown = whole ? text : `${text}\n[more than is shown here]`;
  const parts = [conversationId, ...pending.map(({ id }) => id), shown, String(whole)];
  return { text: shown, whole, name: createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40) };
}

/** Whether a text in it was too long for its event, which has its beginning alone. */
function isPutAside(value: unknown): boolean {
  if (typeof value === 'string') return BLOB_MARKER.test(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(isPutAside);
}

/** Its tool, and each field that says something: a command on a line of its own, everything else by its name. */
function actionText({ tool_name, action }: EventOf<'ActionEvent'>): string {
  const said = Object.entries(action).filter(
    ([key, value]) => key !== 'kind' && value !== null && value !== undefined && value !== false && value !== '',
  );
  const lines = said.map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return visible(maskedText([tool_name, ...lines].join('\n')));
}

const visible = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n/g, '\n')
    .replace(/[\r\u2028\u2029\u0085\v\f]/g, spelt)
    .replace(INVISIBLE, spelt);

const spelt = (character: string): string =>
  `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;

function bounded(text: string): string {
  let length = 0;
  let lines = 1;
  let end = 0;
  for (const character of text) {
    length += '&<>'.includes(character) ? 5 : character.length;
    if (character === '\n') lines += 1;
    if (length > MAX_TEXT || lines > MAX_LINES) return text.slice(0, end);
    end += character.length;
  }
  return text;
}
