import type { FileLines } from '@slipway/domain/review';

/** Lines of one side of a change, from 1. */
export interface LineRange {
  readonly side: 'old' | 'new';
  readonly line: number;
  readonly endLine: number;
}

/** One part of a file's patch. */
export interface Hunk {
  /** Its first lines that changed: those that were added, or where only lines went, those. */
  readonly at: LineRange;
  /** Its header and lines, as the patch has them. */
  readonly text: string;
}

/** Lines of a file before and after, as far as its patch shows them; the lines between hunks are not known. */
export interface PatchSides {
  readonly old: FileLines;
  readonly new: FileLines;
  readonly hunks: readonly Hunk[];
}

/** Reads a patch of one file, as `git diff` writes it. */
export function patchSides(patch: string): PatchSides {
  const before: (string | undefined)[] = [];
  const after: (string | undefined)[] = [];
  const hunks: { lines: string[]; removed: LineRange | null; added: LineRange | null }[] = [];
  let [oldLine, newLine, oldLeft, newLeft] = [0, 0, 0, 0];
  for (const line of patch.split('\n')) {
    const hunk = hunks.at(-1);
    if (oldLeft <= 0 && newLeft <= 0) {
      if (hunk !== undefined && line.startsWith('\\')) hunk.lines.push(line);
      const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
      if (head === null) continue;
      [oldLine, newLine] = [Number(head[1]), Number(head[3])];
      [oldLeft, newLeft] = [Number(head[2] ?? 1), Number(head[4] ?? 1)];
      hunks.push({ lines: [line], removed: null, added: null });
      continue;
    }
    hunk?.lines.push(line);
    const text = line.slice(1);
    if (hunk !== undefined && line.startsWith('-')) hunk.removed = longer(hunk.removed, 'old', oldLine);
    if (hunk !== undefined && line.startsWith('+')) hunk.added = longer(hunk.added, 'new', newLine);
    if (line.startsWith('-') || line.startsWith(' ')) {
      before[oldLine - 1] = text;
      oldLine += 1;
      oldLeft -= 1;
    }
    if (line.startsWith('+') || line.startsWith(' ')) {
      after[newLine - 1] = text;
      newLine += 1;
      newLeft -= 1;
    }
  }
  return {
    old: Array.from(before),
    new: Array.from(after),
    hunks: hunks.flatMap(({ lines, removed, added }) => {
      const at = added ?? removed;
      return at === null ? [] : [{ at, text: lines.join('\n') }];
    }),
  };
}

/** The first run of changed lines: one that does not follow it begins another. */
function longer(run: LineRange | null, side: LineRange['side'], line: number): LineRange {
  if (run === null) return { side, line, endLine: line };
  return run.endLine + 1 === line ? { ...run, endLine: line } : run;
}
