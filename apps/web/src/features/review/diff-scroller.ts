'use client';
import { Virtualizer } from '@pierre/diffs';
import { type RefObject, useLayoutEffect, useState } from 'react';

/** Keeps only the lines in sight in the page; `null` until the place where they scroll is known. */
export function useDiffScroller(box: RefObject<HTMLElement | null>): Virtualizer | null {
  const [virtualizer, setVirtualizer] = useState<Virtualizer | null>(null);
  useLayoutEffect(() => {
    const scroller = box.current?.closest<HTMLElement>('[data-review-scroller]') ?? null;
    if (scroller === null) return;
    const made = new Virtualizer({ overscrollSize: 300 });
    made.setup(scroller, box.current?.closest('article') ?? undefined);
    setVirtualizer(made);
    return () => {
      setVirtualizer(null);
      made.cleanUp();
    };
  }, [box]);
  return virtualizer;
}
