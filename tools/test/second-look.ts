import { countsOf, type FileResult } from './results.ts';

/** Failures in more files than this are not races: two in a hundred of the files that there are. */
const MOST_FILES = 15;

/** No file is begun once more after this, since the run has an end of its own. Milliseconds. */
const LONGEST_MS = 15 * 60_000;

/**
 * Runs each file that failed once more, alone, when they are few, and puts what that gives in the place of the first
 * result (docs/decisions/0013).
 *
 * What fails again stays failed, with its second failure. So does a file whose second run had fewer tests than its
 * first, and everything when `signal` stops it: then the first results stand.
 *
 * @param again runs one file alone; nothing when that gave no result.
 * @returns `races` are the first results of the files that failed beside others and passed alone.
 */
export async function secondLook(
  results: readonly FileResult[],
  again: (file: FileResult) => Promise<FileResult | undefined>,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<{ readonly results: readonly FileResult[]; readonly races: readonly FileResult[] }> {
  const failed = results.filter(({ failures }) => failures.length > 0);
  if (failed.length === 0 || failed.length > MOST_FILES || signal.aborted) return { results, races: [] };

  const seconds = new Map<FileResult, FileResult>();
  const began = performance.now();
  for (const first of failed) {
    if (performance.now() - began > LONGEST_MS) break;
    say(`  ${first.file} is run once more, alone.`);
    const second = await again(first);
    if (signal.aborted) return { results, races: [] };
    if (second !== undefined && (second.failures.length > 0 || ranAsMuch(first, second))) seconds.set(first, second);
  }
  return {
    results: results.map((result) => seconds.get(result) ?? result),
    races: failed.filter((first) => seconds.get(first)?.failures.length === 0),
  };
}

/** A file that skips what failed, or ends before it, has not passed. */
function ranAsMuch(first: FileResult, second: FileResult): boolean {
  const [before, now] = [countsOf([first]), countsOf([second])];
  return now.passed > 0 && now.passed >= before.passed && now.skipped <= before.skipped;
}
