import type { StreamingDelta } from '@slipway/contracts/events';
import { ansiText } from './ansi.ts';
import { applyDelta, type LiveText } from './live-text.ts';

/**
 * What calls have printed while this page was open, by the id of the action, with its colours; the call that was heard
 * of last is last.
 */
export type PrintedOutputs = ReadonlyMap<string, LiveText>;

/** Most calls of which it is kept: more than work at once, and the last ones of those that have ended. */
const MAX_CALLS = 40;

/** The outputs after one more piece. Calls that work at the same time keep what they printed apart. */
export function addPrinted(outputs: PrintedOutputs, delta: StreamingDelta): PrintedOutputs {
  const others = [...outputs].filter(([call]) => call !== delta.responseId).slice(1 - MAX_CALLS);
  return new Map([...others, [delta.responseId, applyDelta(outputs.get(delta.responseId) ?? null, delta)]]);
}

/**
 * A stored output with the colours in which it was printed. The log has it plain, as the model reads it; where what was
 * printed is not part of it as it stands, because the page was opened later or the log has the middle cut out, it stays
 * plain.
 */
export function inPrintedColours(stored: string, printed: string): string {
  if (!printed.includes('\u001b[')) return stored;
  const plain = ansiText(printed).trimEnd();
  const at = plain === '' ? -1 : stored.indexOf(plain);
  return at === -1 ? stored : `${stored.slice(0, at)}${printed.trimEnd()}\u001b[0m${stored.slice(at + plain.length)}`;
}
