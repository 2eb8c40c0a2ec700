import { blobRefOf } from '@slipway/contracts/events';
import type { Step } from './timeline-row.ts';

export interface FileEdit {
  readonly verb: 'created' | 'edited' | 'inserted' | 'undone';
  readonly lines: ReadonlyArray<{ readonly sign: '+' | '-' | ' '; readonly text: string }>;
  readonly added: number;
  readonly removed: number;
  /** The text was a blob: only its beginning is here. */
  readonly cut: boolean;
}

/** Lines of unchanged text kept on each side of a change. */
const CONTEXT = 3;

/** What one edit changed, from the call alone, so that it shows before the answer is there. */
export function editOf(step: Step): FileEdit {
  const source = step.action ?? step.observation;
  const text = (name: string): string => (typeof source?.[name] === 'string' ? (source[name] as string) : '');
  const cut = ['file_text', 'old_str', 'new_str', 'old_content', 'new_content'].some(
    (name) => blobRefOf(text(name)) !== null,
  );
  const whole = (name: string): string => blobRefOf(text(name))?.preview ?? text(name);
  switch (source?.['command']) {
    case 'create':
      return { verb: 'created', cut, ...diffLines('', whole('file_text') || whole('new_content')) };
    case 'insert':
      return { verb: 'inserted', cut, ...diffLines('', whole('new_str')) };
    case 'undo_edit':
      return { verb: 'undone', cut, ...diffLines(whole('old_content'), whole('new_content')) };
    default:
      return {
        verb: 'edited',
        cut,
        ...(step.action
          ? diffLines(whole('old_str'), whole('new_str'))
          : diffLines(whole('old_content'), whole('new_content'))),
      };
  }
}

/**
 * One hunk: what both ends share is context, the middle is replaced. Not a minimal diff; edits here are one replacement
 * each, and for those it is the same. Linear in the number of lines.
 */
export function diffLines(before: string, after: string): Pick<FileEdit, 'lines' | 'added' | 'removed'> {
  const old = linesOf(before);
  const now = linesOf(after);
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  while (
    tail < old.length - head &&
    tail < now.length - head &&
    old[old.length - 1 - tail] === now[now.length - 1 - tail]
  )
    tail += 1;
  const removed = old.slice(head, old.length - tail);
  const added = now.slice(head, now.length - tail);
  const line = (sign: '+' | '-' | ' ') => (text: string) => ({ sign, text });
  return {
    lines: [
      ...old.slice(Math.max(0, head - CONTEXT), head).map(line(' ')),
      ...removed.map(line('-')),
      ...added.map(line('+')),
      ...now.slice(now.length - tail, now.length - tail + CONTEXT).map(line(' ')),
    ],
    added: added.length,
    removed: removed.length,
  };
}

function linesOf(text: string): string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}
