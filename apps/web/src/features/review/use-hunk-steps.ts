'use client';
import { useEffect, useState } from 'react';
import { useCommand } from '../commands/command-context.tsx';
import type { LineRange, PatchSides } from './patch-sides.ts';

/** From which side a file is entered: a step past the last hunk of one leads to the first of the next. */
export type Landing = 'first' | 'last' | null;

interface HunkSteps {
  readonly sides: PatchSides;
  readonly landing: Landing;
  /** Leads to the file after or before; `null`: there is none. */
  readonly leave: ((by: 1 | -1) => void) | null;
  readonly onStep: (at: LineRange) => void;
}

/** Steps from one hunk to the next by key, through all files. @returns the lines that have to come into sight. */
export function useHunkSteps({ sides, landing, leave, onStep }: HunkSteps): LineRange | null {
  const { hunks } = sides;
  const [current, setCurrent] = useState<number | null>(null);
  const [sight, setSight] = useState<LineRange | null>(null);
  const go = (index: number) => {
    const hunk = hunks[index];
    if (hunk === undefined) return;
    setCurrent(index);
    setSight({ ...hunk.at });
    onStep(hunk.at);
  };
  const step = (by: 1 | -1) => {
    const next = current === null ? (by === 1 ? 0 : hunks.length - 1) : current + by;
    if (hunks[next] === undefined) leave?.(by);
    else go(next);
  };
  const lands = landing !== null && current === null && hunks.length > 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the lines are there
  useEffect(() => {
    if (lands) go(landing === 'first' ? 0 : hunks.length - 1);
  }, [lands]);
  useCommand('review.next-hunk', () => step(1));
  useCommand('review.previous-hunk', () => step(-1));
  return sight;
}
