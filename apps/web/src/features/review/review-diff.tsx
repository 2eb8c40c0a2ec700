'use client';
import type { DiffLineAnnotation, FileDiffOptions } from '@pierre/diffs/react';
import { PatchDiff } from '@pierre/diffs/react';
import { visibleMarks } from '@slipway/domain/review';
import { useTheme } from 'next-themes';
import { useCallback, useEffect, useMemo, useRef } from 'react';
import { LOOK, reachByKeyboard, SKIN } from '../changes/diff-look.ts';
import type { LineRange } from './patch-sides.ts';
import type { PlacedThread } from './placed-threads.ts';
import { ThreadCard } from './thread-card.tsx';
import type { ReviewVerbs } from './use-review.ts';

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

/** The lines of one file. A press on a number chooses the line, one with Shift all lines up to it. */
export function ReviewDiff({ patch, split, range, sight, thread, placed, verbs, onRange }: ReviewDiffProps) {
  const { resolvedTheme } = useTheme();
  const choose = useRef(onRange);
  choose.current = onRange;
  const shown = useRef<HTMLElement>(null);
  const wanted = useRef<LineRange | null>(null);
  const bring = useCallback(() => {
    if (shown.current === null || wanted.current === null) return;
    const line = lineIn(shown.current, wanted.current);
    if (line === null) return;
    wanted.current = null;
    line.scrollIntoView({ block: 'center' });
  }, []);
  useEffect(() => {
    wanted.current = sight;
    bring();
  }, [sight, bring]);
  const options = useMemo<FileDiffOptions<PlacedThread, undefined>>(
    () => ({
      theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
      themeType: resolvedTheme === 'dark' ? 'dark' : 'light',
      diffStyle: split ? 'split' : 'unified',
      overflow: 'scroll',
      disableFileHeader: true,
      hunkSeparators: 'line-info-basic',
      lineDiffType: 'word-alt',
      diffIndicators: 'classic',
      unsafeCSS: SKIN,
      onPostRender: (node) => {
        reachByKeyboard(node);
        shown.current = node;
        bring();
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
    [resolvedTheme, split, bring],
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
    <PatchDiff<PlacedThread, undefined>
      patch={marked}
      options={options}
      lineAnnotations={annotations}
      selectedLines={
        range === null
          ? null
          : { start: range.line, end: range.endLine, side: range.side === 'old' ? 'deletions' : 'additions' }
      }
      renderAnnotation={({ metadata }) => (
        <ThreadCard thread={metadata.thread} outdated={false} inSight={metadata.thread.id === thread} verbs={verbs} />
      )}
      className="block"
      style={LOOK}
      disableWorkerPool
    />
  );
}

/** The number of a changed line, inside the viewer's shadow root. */
function lineIn(node: HTMLElement, { side, line }: LineRange): Element | null {
  const type = side === 'old' ? 'change-deletion' : 'change-addition';
  return node.shadowRoot?.querySelector(`[data-column-number="${line}"][data-line-type="${type}"]`) ?? null;
}
