import { MAX_OBSERVATION_LENGTH } from '@slipway/contracts';

/** Lines shown around an edit. */
const AROUND = 4;

/** Lines as a person counts them: a last line feed ends a line and begins none. */
export function linesOf(text: string): string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}

/** As `cat -n` prints it. */
export function numbered(lines: readonly string[], first: number): string {
  return lines.map((line, index) => `${String(first + index).padStart(6)}\t${line}`).join('\n');
}

/** The lines around an edit that begins at line `from` and now takes `count` lines. */
export function snippet(text: string, from: number, count: number): string {
  const lines = linesOf(text);
  const first = Math.max(1, from - AROUND);
  const last = Math.min(lines.length, from + Math.min(count, 200) - 1 + AROUND);
  return numbered(lines.slice(first - 1, last), first);
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
  return `${text.slice(0, keep)}\n<response clipped: ${text.length - 2 * keep} characters; view a range of lines to see them>\n${text.slice(-keep)}`;
}

/** What to try when a text is not in the file: the place that differs only in its white space, or where its first line is. */
export function nearMiss(text: string, wanted: string): string {
  const squeeze = (line: string): string => line.replaceAll(/\s+/g, ' ').trim();
  const lines = text.split('\n').map(squeeze);
  const sought = wanted.split('\n').map(squeeze);
  while (sought.length > 1 && sought[0] === '') sought.shift();
  while (sought.length > 1 && sought.at(-1) === '') sought.pop();
  if (sought.every((line) => line === '')) return '';
  const whole = lines.findIndex((_, index) => sought.every((line, offset) => lines[index + offset] === line));
  if (whole >= 0) return ` It differs only in white space from the text at line ${whole + 1}: view that range and copy it exactly.`;
  const begins = lines.indexOf(sought.find((line) => line !== '') ?? '');
  return begins >= 0
    ? ` Its first line is at line ${begins + 1}, but what follows differs: view that range and copy it exactly.`
    : ' View the file and copy the text exactly.';
}
