'use client';
import { useEffect, useState } from 'react';
import { useCommand } from '../commands/command-context.tsx';
import type { Hunk, LineRange, PatchSides } from './patch-sides.ts';

/** From which side a file is entered: a step past the last hunk of one leads to the first of the next. */
export type Landing = 'first' | 'last' | null;

interface Steppable {
  readonly sides: PatchSides;
  readonly landing: Landing;
  /** Leads to the file after or before; `null`: there is none. */
  readonly leave: ((by: 1 | -1) => void) | null;
  readonly onStep: (at: LineRange) => void;
}

export interface HunkSteps {
  readonly hunks: readonly Hunk[];
  /** `null`: none was stepped to. The only one of a file is current without a step. */
  readonly current: number | null;
  readonly step: (by: 1 | -1) => void;
  /** Lines that have to come into sight, once for each object. */
  readonly sight: LineRange | null;
}

/** Steps from one hunk to the next, by key as well, through all files. */
export function useHunkSteps({ sides, landing, leave, onStep }: Steppable): HunkSteps {
  const { hunks } = sides;
  const [at, setAt] = useState<number | null>(null);
  const [sight, setSight] = useState<LineRange | null>(null);
  const current = at !== null && at < hunks.length ? at : null;
  const go = (index: number) => {
    const hunk = hunks[index];
    if (hunk === undefined) return;
    setAt(index);
    setSight({ ...hunk.at });
    onStep(hunk.at);
  };
  const step = (by: 1 | -1) => {
    const next = current === null ? (by === 1 ? 0 : hunks.length - 1) : current + by;
    if (hunks[next] === undefined) leave?.(by);
    else go(next);
  };
  const lands = landing !== null && at === null && hunks.length > 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the lines are there
  useEffect(() => {
    if (lands) go(landing === 'first' ? 0 : hunks.length - 1);
  }, [lands]);
  useCommand('review.next-hunk', () => step(1));
  useCommand('review.previous-hunk', () => step(-1));
  return { hunks, current: current ?? (hunks.length === 1 ? 0 : null), step, sight };
}
