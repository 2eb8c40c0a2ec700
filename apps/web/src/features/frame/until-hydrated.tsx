'use client';
import type { ReactNode } from 'react';
import { useHydrated } from '../../browser/hydrated.ts';

/**
 * What the server drew can be read at once; buttons and fields in it wait for their scripts.
 * @param isText there are none yet: what scrolls by keys stays as it is, also for who looks for it by program
 */
export function UntilHydrated({ isText = false, children }: { isText?: boolean; children: ReactNode }) {
  const hydrated = useHydrated();
  return (
    <fieldset role="presentation" disabled={!hydrated && !isText} className="contents">
      {children}
    </fieldset>
  );
}
