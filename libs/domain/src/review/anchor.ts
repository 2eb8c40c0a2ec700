import type { ReviewAnchor } from '@slipway/contracts/conversations';
import { lineHash } from './line-hash.js';

/**
 * Lines of a file by number, from 1. `undefined`: what the line holds is not known, as between the hunks of a patch.
 */
export type FileLines = ReadonlyArray<string | undefined>;

/** Where an anchor's lines are now. */
export type Place =
  | { readonly state: 'there'; readonly line: number; readonly endLine: number }
  /** Its lines are gone, or are one of several alike, and which one is not known. */
  | { readonly state: 'outdated' };

const OUTDATED: Place = { state: 'outdated' };

/** Lines of a whole text. A last line without an end is one, too. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

interface Lines {
  readonly hash: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Hashes of a range and its neighbours; `null` when a line of the range is not known. */
export function hashesAt(lines: FileLines, line: number, endLine: number): Lines | null {
  const range = lines.slice(line - 1, endLine);
  if (range.length !== endLine - line + 1 || range.length === 0 || range.includes(undefined)) return null;
  return {
    hash: lineHash(range.join('\n')),
    before: hashOrNull(lines[line - 2]),
    after: hashOrNull(lines[endLine]),
  };
}

/** How often these lines with these neighbours are in a file, and which of them begins at `line`, from 1. */
export function copiesOf(lines: FileLines, line: number, endLine: number): { copies: number; copy: number } | null {
  const wanted = hashesAt(lines, line, endLine);
  if (wanted === null) return null;
  const found = placesOf(lines, wanted, endLine - line + 1);
  return { copies: found.length, copy: found.indexOf(line) + 1 };
}

/**
 * Where the lines of an anchor are in a text, which may have been changed in any way. It answers a place only where the
 * lines and both neighbours are what they were, and only when there are as many such places as there were: never other
 * code.
 */
export function placeOf(anchor: ReviewAnchor, lines: FileLines): Place {
  const length = anchor.endLine - anchor.line + 1;
  const found = placesOf(lines, anchor, length);
  const line = found.length === anchor.copies ? found[anchor.copy - 1] : undefined;
  if (line === undefined) return OUTDATED;
  const text = lines.slice(line - 1, line - 1 + length).join('\n');
  // Hashes are short: whoever makes two texts of one still has no other text shown at the comment.
  if (!text.startsWith(anchor.excerpt)) return OUTDATED;
  return { state: 'there', line, endLine: line + length - 1 };
}

function placesOf(lines: FileLines, wanted: Lines, length: number): number[] {
  const hashes = hashesOf(lines);
  const found: number[] = [];
  for (let line = 1; line + length - 1 <= lines.length; line += 1) {
    if ((hashes[line - 2] ?? null) !== wanted.before || (hashes[line - 1 + length] ?? null) !== wanted.after) continue;
    // Of one line it is known already.
    if (
      length === 1 ? hashes[line - 1] === wanted.hash : hashesAt(lines, line, line + length - 1)?.hash === wanted.hash
    )
      found.push(line);
  }
  return found;
}

/** Of each line that is known. Once for a file: many threads are looked for in the same lines. */
function hashesOf(lines: FileLines): ReadonlyArray<string | null> {
  const kept = KEPT_HASHES.get(lines);
  if (kept !== undefined) return kept;
  const hashes = Array.from(lines, hashOrNull);
  KEPT_HASHES.set(lines, hashes);
  return hashes;
}

const KEPT_HASHES = new WeakMap<FileLines, ReadonlyArray<string | null>>();

function hashOrNull(line: string | undefined): string | null {
  return line === undefined ? null : lineHash(line);
}
