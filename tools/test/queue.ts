import { availableParallelism } from 'node:os';
import type { Suite } from './suites.ts';

/**
 * Test files at the same time. Three on two cores leave them idle for 8 % instead of 23 %, and what measures a time
 * fails (docs/decisions/0066).
 */
export const WORKERS = Math.max(2, availableParallelism());

/** What the queue needs to know of a test file. */
export interface Queued {
  readonly suite: Pick<Suite, 'name' | 'beside' | 'serial' | 'built'>;
}

/** What runs, and what it may run on. */
export interface Room<T> {
  readonly running: readonly T[];
  readonly workers: number;
  /** Whether what suites share is built (prepare.ts). Until then only the first stage runs. */
  readonly prepared: boolean;
}

const STAGES: readonly (readonly Suite['beside'][])[] = [['any'], ['waiting', 'light'], ['alone']];

/**
 * The next file that may run beside those that run: stage by stage, in the order of `pending`.
 *
 * A file of a `waiting` suite runs beside one `light` file; when no `waiting` one is left, light ones run beside each
 * other. `alone` is alone. While something is built, what needs it waits, and so do the stages after the first.
 */
export function nextOf<T extends Queued>(
  pending: readonly T[],
  { running, workers, prepared }: Room<T>,
): T | undefined {
  const all = [...running, ...pending];
  const stage = STAGES.find((kinds) => all.some(({ suite }) => kinds.includes(suite.beside)));
  if (!prepared && stage !== STAGES[0]) return undefined;
  if (stage === undefined || running.length >= workers || running.some(({ suite }) => suite.beside === 'alone'))
    return undefined;
  const waits = ({ suite }: Queued): boolean => suite.beside === 'waiting';
  const fits = (file: T): boolean => {
    if (!stage.includes(file.suite.beside) || (!prepared && file.suite.built)) return false;
    if (file.suite.serial && running.some(({ suite }) => suite.name === file.suite.name)) return false;
    if (file.suite.beside === 'alone') return running.length === 0;
    if (running.some(waits)) return !waits(file) && running.length === 1;
    return true;
  };
  const fitting = pending.filter(fits);
  return fitting.find(waits) ?? fitting[0];
}
