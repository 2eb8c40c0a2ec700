'use client';
import { WorkerPoolContext } from '@pierre/diffs/react';
import { getOrCreateWorkerPoolSingleton } from '@pierre/diffs/worker';
import type { ReactNode } from 'react';
import { LINE_DIFF, THEMES } from './diff-look.ts';

/** Longest wait for the worker; then the page colours the lines itself. Milliseconds. */
const START_TIMEOUT_MS = 5_000;

/** The worker that colours lines for all diffs of a page. It lives as long as the page: starting one takes a while. */
export function DiffWorkers({ children }: { children: ReactNode }) {
  return <WorkerPoolContext value={pool()}>{children}</WorkerPoolContext>;
}

function pool() {
  return getOrCreateWorkerPoolSingleton({
    poolOptions: {
      workerFactory: () => new Worker(new URL('./diff-worker.ts', import.meta.url), { type: 'module' }),
      poolSize: 1,
      workerInitializationTimeout: START_TIMEOUT_MS,
      // Where a browser or a proxy keeps workers out, the lines are there all the same.
      onWorkerError: (event) => event.preventDefault(),
      totalASTLRUCacheSize: 10,
    },
    highlighterOptions: { theme: THEMES, lineDiffType: LINE_DIFF },
  });
}
