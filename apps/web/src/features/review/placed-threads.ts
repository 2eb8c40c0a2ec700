import type { ReviewAnchor, ReviewThread } from '@slipway/contracts/conversations';
import { MAX_EXCERPT_LENGTH } from '@slipway/contracts/conversations';
import { copiesOf, type FileLines, hashesAt, placeOf } from '@slipway/domain/review';
import type { LineRange, PatchSides } from './patch-sides.ts';

export interface PlacedThread {
  readonly thread: ReviewThread;
  /** `null`: outdated. */
  readonly at: LineRange | null;
}

/** Where the threads of one file are in what its patch shows. */
export function placedThreads(threads: readonly ReviewThread[], sides: PatchSides): readonly PlacedThread[] {
  return threads.map((thread) => {
    const { side } = thread.anchor;
    const place = placeOf(thread.anchor, sides[side]);
    return { thread, at: place.state === 'there' ? { side, line: place.line, endLine: place.endLine } : null };
  });
}

/** An anchor to lines that are shown; `null` when one of them is not. */
export function anchorTo(
  { side, line, endLine }: LineRange,
  sides: PatchSides,
  file: Pick<ReviewAnchor, 'path' | 'base' | 'repository'>,
): ReviewAnchor | null {
  const lines: FileLines = sides[side];
  const hashes = hashesAt(lines, line, endLine);
  const copies = copiesOf(lines, line, endLine);
  if (hashes === null || copies === null) return null;
  const excerpt = lines
    .slice(line - 1, endLine)
    .join('\n')
    .slice(0, MAX_EXCERPT_LENGTH);
  return { ...file, side, line, endLine, ...hashes, ...copies, excerpt };
}
