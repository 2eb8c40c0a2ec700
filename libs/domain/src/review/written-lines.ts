import { linesOf } from './anchor.js';
import { lineHash } from './line-hash.js';

/** A file before and after one step of the log that edited it. `null`: the log does not have the text. */
export interface FileEdit {
  /** Position of the step in the log. */
  readonly seq: number;
  readonly before: string | null;
  readonly after: string | null;
}

/** Lines in a row that one step wrote, as they are after the last edit. */
export interface WrittenLines {
  readonly line: number;
  readonly endLine: number;
  readonly seq: number;
  /** Of the lines, joined by line feeds: whoever finds other lines there does not know who wrote them. */
  readonly hash: string;
}

interface Line {
  readonly text: string;
  /** `null`: not known, or from before the log. */
  readonly seq: number | null;
}

/** Most pairs of lines that are compared to align two texts; beyond that every line between is another. */
const MAX_PAIRS = 1_000_000;

/**
 * Which step of the log wrote which lines of a file, by its edits in order. What was written beside them (a command,
 * another user) is noticed when the next edit finds another text than the one before left; it is in no answer.
 */
export function writtenLines(edits: readonly FileEdit[]): readonly WrittenLines[] {
  let lines: readonly Line[] | null = null;
  for (const { seq, before, after } of edits) {
    if (before !== null) lines = aligned(lines ?? [], linesOf(before), null);
    else if (after !== null) lines = null;
    lines = after === null ? null : before === null ? unknown(after) : aligned(lines ?? [], linesOf(after), seq);
  }
  return inRows(lines ?? []);
}

function unknown(text: string): readonly Line[] {
  return linesOf(text).map((line) => ({ text: line, seq: null }));
}

/** The new text, each line with the writer that it had, or with `writer` where it is new. */
function aligned(old: readonly Line[], now: readonly string[], writer: number | null): readonly Line[] {
  const most = Math.min(old.length, now.length);
  let head = 0;
  while (head < most && old[head]?.text === now[head]) head += 1;
  let tail = 0;
  while (tail < most - head && old.at(-1 - tail)?.text === now.at(-1 - tail)) tail += 1;
  const middle = between(old.slice(head, old.length - tail), now.slice(head, now.length - tail), writer);
  return [...old.slice(0, head), ...middle, ...old.slice(old.length - tail)];
}

/** By a longest common subsequence of the lines. */
function between(old: readonly Line[], now: readonly string[], writer: number | null): readonly Line[] {
  const fresh = (text: string | undefined): Line => ({ text: text ?? '', seq: writer });
  if (old.length * now.length > MAX_PAIRS || old.length === 0) return now.map(fresh);
  const width = now.length + 1;
  const longest = new Uint32Array((old.length + 1) * width);
  const at = (row: number, column: number): number => longest[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1)
    for (let column = now.length - 1; column >= 0; column -= 1)
      longest[row * width + column] =
        old[row]?.text === now[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
  const result: Line[] = [];
  let row = 0;
  for (let column = 0; column < now.length; ) {
    const line = old[row];
    if (line !== undefined && line.text === now[column]) {
      result.push(line);
      row += 1;
      column += 1;
    } else if (line !== undefined && at(row + 1, column) >= at(row, column + 1)) row += 1;
    else {
      result.push(fresh(now[column]));
      column += 1;
    }
  }
  return result;
}

function inRows(lines: readonly Line[]): readonly WrittenLines[] {
  const rows: WrittenLines[] = [];
  for (let index = 0; index < lines.length; ) {
    const { seq } = lines[index] as Line;
    let end = index + 1;
    while (end < lines.length && lines[end]?.seq === seq) end += 1;
    if (seq !== null) rows.push({ line: index + 1, endLine: end, seq, hash: hashOf(lines.slice(index, end)) });
    index = end;
  }
  return rows;
}

function hashOf(lines: readonly Line[]): string {
  return lineHash(lines.map(({ text }) => text).join('\n'));
}

/**
 * The steps that wrote these lines, in order. Empty when any of them is not known: the file holds others there than the
 * log says, or not all lines that were written with them are shown.
 */
export function writersOf(
  written: readonly WrittenLines[],
  lines: ReadonlyArray<string | undefined>,
  { line, endLine }: { readonly line: number; readonly endLine: number },
): readonly number[] {
  const found = written.filter((each) => each.line <= endLine && each.endLine >= line);
  const covered = found.reduce((sum, each) => sum + Math.min(each.endLine, endLine) - Math.max(each.line, line) + 1, 0);
  if (covered !== endLine - line + 1) return [];
  const same = found.every((each) => {
    const there = lines.slice(each.line - 1, each.endLine);
    return !there.includes(undefined) && lineHash(there.join('\n')) === each.hash;
  });
  return same ? [...new Set(found.map(({ seq }) => seq))].sort((one, other) => one - other) : [];
}
