import type { ReviewAnchor } from '@slipway/contracts/conversations';
import { linesOf } from './anchor.js';
import { CHAPTERS, chapterOf } from './chapters.js';
import { visibleMarks } from './visible-marks.js';

/** One comment on its way to the agent. */
export interface OutgoingComment {
  readonly id: string;
  /** Of its thread. */
  readonly number: number;
  readonly anchor: ReviewAnchor;
  readonly text: string;
  readonly suggestion: string | null;
}

/** Lines of an excerpt that a message quotes; the rest is in the file. */
const QUOTED_LINES = 40;

/**
 * One message of all comments: a line that says how many, how to answer, then each comment with its place, the lines
 * and the words, in the order of reading. What does not fit into `maxLength` UTF-16 code units is left out, whole
 * comments from the end, and is in `left`.
 */
export function reviewMessage(
  comments: readonly OutgoingComment[],
  maxLength: number,
): { readonly text: string; readonly taken: readonly OutgoingComment[]; readonly left: readonly OutgoingComment[] } {
  const sorted = [...comments].sort(inOrder);
  const parts = sorted.map(partOf);
  let count = parts.length;
  let length = parts.reduce((sum, part) => sum + part.length + 2, 0);
  while (count > 0 && length + headOf(sorted.slice(0, count)).length > maxLength) {
    count -= 1;
    length -= (parts[count] as string).length + 2;
  }
  const taken = sorted.slice(0, count);
  return { text: [headOf(taken), ...parts.slice(0, count)].join('\n\n'), taken, left: sorted.slice(count) };
}

function inOrder(one: OutgoingComment, other: OutgoingComment): number {
  const [a, b] = [one.anchor, other.anchor];
  const chapters = CHAPTERS.indexOf(chapterOf(a.path)) - CHAPTERS.indexOf(chapterOf(b.path));
  if (chapters !== 0) return chapters;
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return a.line - b.line || one.number - other.number;
}

function headOf(comments: readonly OutgoingComment[]): string {
  const files = new Set(comments.map(({ anchor }) => anchor.path)).size;
  const example = comments[0]?.number ?? 1;
  return [
    `Review: ${counted(comments.length, 'comment')} in ${counted(files, 'file')}.`,
    'Line numbers are from the time of writing. Do what each comment asks, or say why not.',
    'Answer every thread in your final message, each on a line of its own that begins with its number:',
    `thread ${example}: what you did`,
    `When a commit did it, name it: thread ${example} (commit 1a2b3c4): what you did`,
  ].join('\n');
}

function partOf({ number, anchor, text, suggestion }: OutgoingComment): string {
  const place = `${nameOf(anchor.path)}:${anchor.line}${anchor.endLine > anchor.line ? `-${anchor.endLine}` : ''}`;
  const where = anchor.repository === null ? '' : ` in ${nameOf(anchor.repository)}`;
  const lines = excerptLines(anchor);
  const quoted = lines.slice(0, QUOTED_LINES).map((line) => `> ${line}`);
  if (lines.length > QUOTED_LINES) quoted.push(`> (${lines.length - QUOTED_LINES} more lines)`);
  return [
    `## thread ${number}: ${place}${anchor.side === 'old' ? ' (before the change)' : ''}${where}`,
    ...quoted,
    ...(text === '' ? [] : ['', text]),
    ...(suggestion === null ? [] : ['', 'Suggested change:', suggestionPatch(anchor, suggestion)]),
  ].join('\n');
}

/** A suggestion as a patch that `git apply` takes at the lines as they were. */
export function suggestionPatch(anchor: ReviewAnchor, suggestion: string): string {
  const before = excerptLines(anchor);
  const after = suggestion === '' ? [] : suggestion.split('\n');
  const body = [
    `--- ${patchName('a', anchor.path)}`,
    `+++ ${patchName('b', anchor.path)}`,
    `@@ -${anchor.line},${before.length} +${anchor.line},${after.length} @@`,
    ...before.map((line) => `-${line}`),
    ...after.map((line) => `+${line}`),
  ].join('\n');
  const fence = '`'.repeat(Math.max(3, ...[...body.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return `${fence}diff\n${body}\n${fence}`;
}

function excerptLines({ excerpt }: ReviewAnchor): string[] {
  return excerpt === '' ? [''] : linesOf(excerpt.endsWith('\n') ? `${excerpt}\n` : excerpt);
}

/** In quotes, with marks, where it has characters that would change how the message reads. */
function nameOf(path: string): string {
  const shown = visibleMarks(path);
  return shown === path ? path : JSON.stringify(path).replace(/[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, escaped);
}

function patchName(side: string, path: string): string {
  const plain = `${side}/${path}`;
  return nameOf(plain);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
