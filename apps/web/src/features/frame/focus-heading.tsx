'use client';
import { usePathname } from 'next/navigation';
import { useEffect, useRef } from 'react';

/** Where someone writes: a page that begins there keeps the focus there. */
const WRITTEN_IN = 'input, textarea, select, [contenteditable="true"], [role="dialog"] *';

/**
 * Moves the focus to the heading of a page that was gone to within the app, so that it is read out and Tab goes on from
 * there. The first page of a visit is left to the browser.
 */
export function FocusHeading() {
  const path = usePathname();
  const shown = useRef(path);
  useEffect(() => {
    if (shown.current === path) return;
    shown.current = path;
    return whenThereIs('main h1', (heading) => {
      if (document.activeElement?.matches(WRITTEN_IN)) return;
      heading.tabIndex = -1;
      // It is read out and cannot be pressed: a ring around it would promise more.
      heading.classList.add('outline-none');
      heading.focus({ preventScroll: true });
    });
  }, [path]);
  return null;
}

/** @returns how to wait no longer. */
function whenThereIs(selector: string, work: (element: HTMLElement) => void): () => void {
  const look = (): boolean => {
    const found = document.querySelector<HTMLElement>(selector);
    if (found !== null) work(found);
    return found !== null;
  };
  const changes = new MutationObserver(() => {
    if (look()) changes.disconnect();
  });
  // A menu or dialog that was closed by going there gives the focus back first.
  const frame = requestAnimationFrame(() => {
    if (!look()) changes.observe(document.body, { childList: true, subtree: true });
  });
  return () => {
    cancelAnimationFrame(frame);
    changes.disconnect();
  };
}
