import type { FileLines } from '@slipway/domain/review';

/** Lines of a file before and after, as far as its patch shows them; the lines between hunks are not known. */
export interface PatchSides {
  readonly old: FileLines;
  readonly new: FileLines;
  /** First line of each hunk on the new side. */
  readonly hunks: readonly number[];
}

/** Reads a patch of one file, as `git diff` writes it. */
export function patchSides(patch: string): PatchSides {
  const before: (string | undefined)[] = [];
  const after: (string | undefined)[] = [];
  const hunks: number[] = [];
  let [oldLine, newLine, oldLeft, newLeft] = [0, 0, 0, 0];
  for (const line of patch.split('\n')) {
    if (oldLeft <= 0 && newLeft <= 0) {
      const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
      if (head === null) continue;
      [oldLine, newLine] = [Number(head[1]), Number(head[3])];
      [oldLeft, newLeft] = [Number(head[2] ?? 1), Number(head[4] ?? 1)];
      hunks.push(newLine);
      continue;
    }
    const text = line.slice(1);
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
  return { old: Array.from(before), new: Array.from(after), hunks };
}
