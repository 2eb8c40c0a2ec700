'use client';
import type { DiffLineAnnotation, FileDiffOptions } from '@pierre/diffs/react';
import { PatchDiff, VirtualizerContext } from '@pierre/diffs/react';
import { visibleMarks } from '@slipway/domain/review';
import { useTheme } from 'next-themes';
import { useMemo, useRef } from 'react';
import { LINE_DIFF, LOOK, METRICS, reachByKeyboard, SKIN, THEMES } from '../changes/diff-look.ts';
import { DiffWorkers } from '../changes/diff-workers.tsx';
import { useDiffScroller } from './diff-scroller.ts';
import type { LineRange } from './patch-sides.ts';
import type { PlacedThread } from './placed-threads.ts';
import { ThreadCard } from './thread-card.tsx';
import { useLineInSight } from './use-line-in-sight.ts';
import type { ReviewVerbs } from './use-review.ts';

/** Lines of a side: what is longer has no colours, since taking them over holds the page up. */
const COLOURED_AT_MOST = 5_000;

interface ReviewDiffProps {
  readonly patch: string;
  readonly split: boolean;
  readonly range: LineRange | null;
  /** Lines to bring into sight, once for each object. */
  readonly sight: LineRange | null;
  readonly thread: string | null;
  readonly placed: readonly PlacedThread[];
  readonly verbs: ReviewVerbs;
  readonly onRange: (range: LineRange | null) => void;
}

/**
 * The lines of one file; only those in sight are in the page. A press on a number chooses the line, one with Shift all
 * lines up to it.
 */
export function ReviewDiff({ patch, split, range, sight, thread, placed, verbs, onRange }: ReviewDiffProps) {
  const { resolvedTheme } = useTheme();
  const choose = useRef(onRange);
  choose.current = onRange;
  const box = useRef<HTMLDivElement>(null);
  // The element with `data-review-scroller` around it.
  const virtualizer = useDiffScroller(box);
  const place = placed.find((each) => each.thread.id === thread)?.at ?? null;
  const rendered = useLineInSight({ virtualizer, sight, thread, place });
  const options = useMemo<FileDiffOptions<PlacedThread, undefined>>(
    () => ({
      theme: THEMES,
      themeType: resolvedTheme === 'dark' ? 'dark' : 'light',
      diffStyle: split ? 'split' : 'unified',
      overflow: 'scroll',
      disableFileHeader: true,
      hunkSeparators: 'line-info-basic',
      lineDiffType: LINE_DIFF,
      tokenizeMaxLength: COLOURED_AT_MOST,
      diffIndicators: 'classic',
      unsafeCSS: SKIN,
      onPostRender: (node, instance) => {
        reachByKeyboard(node);
        rendered(node, instance);
      },
      enableLineSelection: true,
      onLineSelectionEnd: (chosen) => {
        if (chosen === null) return choose.current(null);
        const side = chosen.side === 'deletions' ? 'old' : 'new';
        // A range over both sides is about what is there now.
        const mixed = chosen.endSide !== undefined && chosen.endSide !== chosen.side;
        const [one, other] = mixed ? [chosen.end, chosen.end] : [chosen.start, chosen.end];
        const at = mixed ? (chosen.endSide === 'deletions' ? 'old' : 'new') : side;
        choose.current({ side: at, line: Math.min(one, other), endLine: Math.max(one, other) });
      },
    }),
    [resolvedTheme, split, rendered],
  );
  // Characters that turn or hide text are shown as marks; tabs and ends of lines stay.
  const marked = useMemo(
    () =>
      patch
        .split('\n')
        .map((line) => visibleMarks(line.replace(/\r$/, '')))
        .join('\n'),
    [patch],
  );
  const annotations = useMemo(
    () =>
      placed.flatMap((each): DiffLineAnnotation<PlacedThread>[] =>
        each.at === null
          ? []
          : [{ side: each.at.side === 'old' ? 'deletions' : 'additions', lineNumber: each.at.endLine, metadata: each }],
      ),
    [placed],
  );
  return (
    <DiffWorkers>
      <VirtualizerContext value={virtualizer ?? undefined}>
        <div ref={box}>
          {virtualizer === null ? null : (
            <PatchDiff<PlacedThread, undefined>
              patch={marked}
              options={options}
              metrics={METRICS}
              lineAnnotations={annotations}
              selectedLines={
                range === null
                  ? null
                  : { start: range.line, end: range.endLine, side: range.side === 'old' ? 'deletions' : 'additions' }
              }
              renderAnnotation={({ metadata }) => (
                <ThreadCard
                  thread={metadata.thread}
                  outdated={false}
                  inSight={metadata.thread.id === thread}
                  verbs={verbs}
                />
              )}
              className="block"
              style={LOOK}
            />
          )}
        </div>
      </VirtualizerContext>
    </DiffWorkers>
  );
}
