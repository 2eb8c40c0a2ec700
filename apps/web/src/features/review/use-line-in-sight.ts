'use client';
import { VirtualizedFileDiff, type Virtualizer } from '@pierre/diffs';
import { useCallback, useEffect, useRef } from 'react';
import type { LineRange } from './patch-sides.ts';

interface InSight {
  readonly virtualizer: Virtualizer | null;
  /** Lines to bring into sight, once for each object. */
  readonly sight: LineRange | null;
  readonly thread: string | null;
  /** Where that thread is; `null`: on no line that is shown. */
  readonly place: LineRange | null;
}

interface Wanted {
  readonly line: LineRange;
  /** Gets the focus when its line is there. */
  readonly thread: string | null;
  /** Renders to wait for, at most: a line may be none that the viewer has. */
  tries: number;
}

/** Renders of the viewer after a jump until the line is in the page: one to get there, the others to measure. */
const TRIES = 4;

/** Brings a line into sight, also one that is not in the page yet. The answer is to be called after each render. */
export function useLineInSight({ virtualizer, sight, thread, place }: InSight) {
  const shown = useRef<{ readonly node: HTMLElement; readonly instance: unknown } | null>(null);
  const wanted = useRef<Wanted | null>(null);
  const bring = useCallback(() => {
    const [on, want] = [shown.current, wanted.current];
    if (on === null || want === null || virtualizer === null) return;
    const line = lineIn(on.node, want.line);
    if (line !== null) {
      wanted.current = null;
      line.scrollIntoView({ block: 'center' });
      if (want.thread !== null) focusThread(on.node, want.thread);
      return;
    }
    want.tries -= 1;
    if (want.tries <= 0) wanted.current = null;
    const side = want.line.side === 'old' ? 'deletions' : 'additions';
    const at =
      on.instance instanceof VirtualizedFileDiff ? on.instance.getLinePosition(want.line.line, side) : undefined;
    if (at === undefined) return;
    const top = virtualizer.getOffsetInScrollContainer(on.node) + at.top;
    virtualizer.scrollTo({ top: top - window.innerHeight / 3 });
  }, [virtualizer]);
  useEffect(() => {
    wanted.current = sight === null ? null : { line: sight, thread: null, tries: TRIES };
    bring();
  }, [sight, bring]);
  const isPlaced = place !== null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each thread, whatever moves it later
  useEffect(() => {
    if (thread === null || place === null) return;
    wanted.current = { line: place, thread, tries: TRIES };
    bring();
  }, [thread, isPlaced, bring]);
  return useCallback(
    (node: HTMLElement, instance: unknown) => {
      shown.current = { node, instance };
      bring();
    },
    [bring],
  );
}

/** The number of a line, inside the viewer's shadow root. */
function lineIn(node: HTMLElement, { side, line }: LineRange): Element | null {
  const type = side === 'old' ? 'change-deletion' : 'change-addition';
  const number = `[data-column-number="${line}"]`;
  const root = node.shadowRoot;
  return (
    root?.querySelector(`${number}[data-line-type="${type}"]`) ??
    root?.querySelector(`${number}[data-line-type="context"]`) ??
    null
  );
}

function focusThread(node: HTMLElement, id: string): void {
  const card = node.querySelector<HTMLElement>(`[data-review-thread="${id}"]`);
  card?.scrollIntoView({ block: 'center' });
  card?.focus({ preventScroll: true });
}
