import { beginningOf } from '@slipway/contracts/actions';
import { placeOf } from '../editor/find-sequence.js';
import type { Chunk } from './parse-patch.js';

/**
 * Longest time for the chunks of one file: thousands of them in millions of lines would keep everything else waiting.
 * Milliseconds.
 */
const MAX_MS = 5_000;

/** Similarity levels of two lines, from exact to visually equal; the index is what it adds to the fuzz. */
const ALIKE: ReadonlyArray<{ readonly fuzz: number; readonly form: (line: string) => string }> = [
  { fuzz: 0, form: (line) => line },
  { fuzz: 1, form: (line) => line.trimEnd() },
  { fuzz: 100, form: (line) => line.trim() },
  { fuzz: 1_000, form: plain },
];

export type Patched =
  | { readonly ok: true; readonly text: string; readonly fuzz: number }
  | { readonly ok: false; readonly why: string };

/**
 * A text with chunks put in, each found after the one before. Lines that are not changed stay as the text has them,
 * also where the patch has them a little otherwise; added lines end as the lines of the text do.
 */
export function applyChunks(text: string, chunks: readonly Chunk[]): Patched {
  const ended = text.endsWith('\n') || text === '';
  const lines = text.split('\n');
  if (ended) lines.pop();
  const carriage = lines.length > 0 && lines.every((line) => line.endsWith('\r')) ? '\r' : '';
  const forms = ALIKE.map(({ form }) => form);
  /** Each form of the text is made once, when it is first needed. */
  const made: string[][] = [];
  const textIn = (form: number): string[] => (made[form] ??= lines.map(forms[form] as (line: string) => string));
  const find = (wanted: readonly string[], from: number, atEnd: boolean): { at: number; fuzz: number } | undefined => {
    for (const [index, { fuzz, form }] of ALIKE.entries()) {
      const at = atEnd
        ? placeAtEnd(textIn(index), wanted.map(form), from)
        : placeOf(textIn(index), wanted.map(form), from);
      if (at >= 0) return { at, fuzz };
    }
    // The end of the file was meant, but the lines are elsewhere.
    const elsewhere = atEnd ? find(wanted, from, false) : undefined;
    return elsewhere === undefined ? undefined : { at: elsewhere.at, fuzz: elsewhere.fuzz + 10_000 };
  };
  const result: string[] = [];
  const keep = (to: number): void => {
    for (let at = taken; at < to; at++) result.push(lines[at] as string);
  };
  const started = performance.now();
  let taken = 0;
  let from = 0;
  let fuzz = 0;
  for (const [index, { anchors, lines: given, atEnd }] of chunks.entries()) {
    const name = `Change ${index + 1} of ${chunks.length}`;
    if (performance.now() - started > MAX_MS)
      return {
        ok: false,
        why: `${name} was not searched: the file is too long for so many changes. Make smaller patches.`,
      };
    for (const anchor of anchors) {
      const found = find([anchor], from, false);
      if (found === undefined)
        return { ok: false, why: `${name}: there is no line "${beginningOf(anchor, 200)}" after line ${from}.` };
      from = found.at + 1;
      fuzz += found.fuzz;
    }
    const before = given.filter(({ sign }) => sign !== '+').map((line) => line.text);
    const found =
      before.length === 0
        ? { at: anchors.length > 0 && !atEnd ? from : lines.length, fuzz: 0 }
        : find(before, from, atEnd);
    if (found === undefined)
      return { ok: false, why: `${name}: these lines do not stand together after line ${from}:\n${quoted(before)}` };
    fuzz += found.fuzz;
    keep(found.at);
    let line = found.at;
    for (const { sign, text: own } of given) {
      if (sign === '+') result.push(own + carriage);
      else {
        if (sign === ' ') result.push(lines[line] as string);
        line += 1;
      }
    }
    taken = line;
    from = line;
  }
  keep(lines.length);
  // A text without a last line feed keeps none, unless lines were put after what was its last.
  const grown = taken === lines.length && chunks.at(-1)?.lines.at(-1)?.sign === '+';
  return { ok: true, text: result.length === 0 ? '' : result.join('\n') + (ended || grown ? '\n' : ''), fuzz };
}

/** Where it would be the end of the lines, if it stands there; -1 if not. */
function placeAtEnd(lines: readonly string[], wanted: readonly string[], from: number): number {
  const at = lines.length - wanted.length;
  return at >= from && wanted.every((line, index) => lines[at + index] === line) ? at : -1;
}

/** Typographic dashes, quotes and spaces as a keyboard has them. */
function plain(line: string): string {
  return line
    .trim()
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/[\u2018-\u201b]/g, "'")
    .replace(/[\u201c-\u201f]/g, '"')
    .replace(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, ' ');
}

function quoted(lines: readonly string[]): string {
  const text = lines.join('\n');
  return beginningOf(text, 1_000);
}
