import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { WORKERS } from './queue.ts';
import type { Suite } from './suites.ts';

/** Seconds by file. */
type Seconds = Record<string, number>;

/**
 * Of a suite's files together, or of one file; from a run of all on two cores, for machines that have run nothing yet.
 */
const committed: Seconds = JSON.parse(readFileSync(path.join(import.meta.dirname, 'seconds.json'), 'utf8'));

const measuredFile = (root: string): string => path.join(root, '.nx/test-seconds.json');

/**
 * How long each of the files, named from the root, is expected to take: as in the last run here, else by what is
 * committed for it or its suite.
 */
export function expectedSeconds(root: string, suites: readonly Pick<Suite, 'name' | 'files'>[]): Map<string, number> {
  const measured = readSeconds(measuredFile(root));
  return new Map(
    suites.flatMap(({ name, files }) =>
      files.map((each): [string, number] => {
        const file = `${name}/${each.replaceAll(path.sep, '/')}`;
        return [file, measured[file] ?? committed[file] ?? (committed[name] ?? files.length) / files.length];
      }),
    ),
  );
}

/** For a user: how long these suites are expected to take together, by the stages of queue.ts. */
export function expectedMinutes(root: string, suites: readonly Suite[]): string {
  const sum = (beside: Suite['beside']): number =>
    [
      ...expectedSeconds(
        root,
        suites.filter((suite) => suite.beside === beside),
      ).values(),
    ].reduce((total, seconds) => total + seconds, 0);
  const seconds = sum('any') / WORKERS + Math.max(sum('waiting'), (sum('waiting') + sum('light')) / 2) + sum('alone');
  return seconds < 90 ? `${Math.ceil(seconds)} seconds` : `${Math.ceil(seconds / 60)} minutes`;
}

/** Keeps how long files took, for the next run's order and estimate. */
export function keepSeconds(root: string, taken: Seconds): void {
  mkdirSync(path.dirname(measuredFile(root)), { recursive: true });
  writeFileSync(measuredFile(root), `${JSON.stringify({ ...readSeconds(measuredFile(root)), ...taken }, null, 1)}\n`);
}

function readSeconds(file: string): Seconds {
  try {
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Seconds) : {};
  } catch {
    // Half written by a run that was ended.
    return {};
  }
}
