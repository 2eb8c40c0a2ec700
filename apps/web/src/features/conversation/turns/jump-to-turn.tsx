'use client';
import { lazy, Suspense, useState } from 'react';
import { useCommand } from '../../commands/command-context.tsx';

const TurnList = lazy(() => import('./turn-list.tsx'));

/** The list of turns, once it is asked for. */
export function JumpToTurn() {
  const [open, setOpen] = useState(false);
  useCommand('turn.jump', () => setOpen(true));
  if (!open) return null;
  return (
    <Suspense>
      <TurnList close={() => setOpen(false)} />
    </Suspense>
  );
}
