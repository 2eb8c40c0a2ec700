'use client';
import { lazy, Suspense, useState } from 'react';
import { useCommand } from '../../commands/command-context.tsx';

const FindBar = lazy(() => import('./find-bar.tsx'));

/** The find bar, once it is asked for. While it is open its keys are the browser's own. */
export function Find() {
  const [open, setOpen] = useState(false);
  useCommand('page.find', open ? null : () => setOpen(true));
  if (!open) return null;
  return (
    <Suspense>
      <FindBar close={() => setOpen(false)} />
    </Suspense>
  );
}
