import { clippedFrom, MAX_OBSERVATION_LENGTH } from '@slipway/contracts/actions';
import { placeOf } from './find-sequence.js';

/** Lines shown around an edit. */
const AROUND = 4;

/** Lines as a user counts them: a last line feed ends a line and begins none. */
export function linesOf(text: string): string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}

/** How many of them a text has, without making them. */
export function lineCount(text: string): number {
  let count = text === '' || text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** Where the line after the first `count` begins: the end of the text when there is none. */
export function offsetAfter(text: string, count: number): number {
  let at = 0;
  for (let line = 0; line < count; line += 1) {
    const end = text.indexOf('\n', at);
    if (end === -1) return text.length;
    at = end + 1;
  }
  return at;
}

/** As `cat -n` prints it. */
export function numbered(lines: readonly string[], first: number): string {
  return lines.map((line, index) => `${String(first + index).padStart(6)}\t${line}`).join('\n');
}

/** The lines around an edit that begins at line `from` and now takes `count` lines. */
export function snippet(text: string, from: number, count: number): string {
  const first = Math.max(1, from - AROUND);
  const begin = offsetAfter(text, first - 1);
  const rest = text.slice(begin);
  return numbered(linesOf(rest.slice(0, offsetAfter(rest, from - first + Math.min(count, 200) + AROUND))), first);
}

/** A longer text is not numbered as a whole: of millions of lines only a few thousand are shown. UTF-16 code units. */
const MAX_NUMBERED = 1024 * 1024;
/** Of such a one from both ends. UTF-16 code units. */
const SHOWN = MAX_OBSERVATION_LENGTH / 2 - 1_000;

/** A whole file as `cat -n` prints it, with the middle left out where that is long. */
export function numberedFile(text: string): string {
  if (text.length <= MAX_NUMBERED) return numbered(linesOf(text), 1);
  const begin = text.length - SHOWN;
  const end = numbered(linesOf(text.slice(begin)), lineAt(text, begin)).slice(-SHOWN);
  return `${numbered(linesOf(text.slice(0, SHOWN)), 1).slice(0, SHOWN)}${clippedFrom(`the file has ${text.length} characters; view a range of lines to see them`)}\n${end}`;
}

/** Number of the line, from 1, in which this offset lies. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

/** At most MAX_OBSERVATION_LENGTH code units: the middle is cut out. */
export function clipped(text: string): string {
  if (text.length <= MAX_OBSERVATION_LENGTH) return text;
  const keep = MAX_OBSERVATION_LENGTH / 2 - 150;
  return `${text.slice(0, keep)}${clippedFrom(`${text.length - 2 * keep} characters; view a range of lines to see them`)}\n${text.slice(-keep)}`;
}

/**
 * What to try when a text is not in the file: the place that differs only in its white space, or where its first line
 * is.
 */
export function nearMiss(text: string, wanted: string): string {
  const squeeze = (line: string): string => line.replaceAll(/\s+/g, ' ').trim();
  const lines = text.split('\n').map(squeeze);
  const sought = wanted.split('\n').map(squeeze);
  while (sought.length > 1 && sought[0] === '') sought.shift();
  while (sought.length > 1 && sought.at(-1) === '') sought.pop();
  if (sought.every((line) => line === '')) return '';
  const whole = placeOf(lines, sought, 0);
  if (whole >= 0)
    return ` It differs only in white space from the text at line ${whole + 1}: view that range and copy it exactly.`;
  const begins = lines.indexOf(sought.find((line) => line !== '') ?? '');
  return begins >= 0
    ? ` Its first line is at line ${begins + 1}, but what follows differs: view that range and copy it exactly.`
    : ' View the file and copy the text exactly.';
}
