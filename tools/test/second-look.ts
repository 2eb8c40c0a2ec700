import { countsOf, type FileResult, runSuite, type SuiteResult } from './run-suite.ts';

/** Failures in more files than this are not races: two in a hundred of the files that there are. */
const MOST_FILES = 8;

/** No file is begun once more after this, since the run has an end of its own. Milliseconds. */
const LONGEST_MS = 15 * 60_000;

/** A file that failed beside others and passed alone. */
export interface Race {
  readonly suite: string;
  readonly first: FileResult;
}

/**
 * Runs each file that failed once more, alone, when they are few, and puts what that gives in the place of the first result (docs/decisions/0013).
 *
 * What fails again stays failed, with its second failure. So does a file whose second run had fewer tests than its first, and everything when `signal`
 * stops it: then the first results stand.
 */
export async function secondLook(
  results: readonly SuiteResult[],
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<{ readonly results: readonly SuiteResult[]; readonly races: readonly Race[] }> {
  const failed = results.flatMap(({ suite, files }) => files.filter(({ failures }) => failures.length > 0).map((first) => ({ suite, first })));
  if (failed.length === 0 || failed.length > MOST_FILES || signal.aborted) return { results, races: [] };

  const seconds = new Map<FileResult, FileResult>();
  const began = performance.now();
  for (const { suite, first } of failed) {
    if (performance.now() - began > LONGEST_MS) break;
    // Printed first: a run that is ended from outside during the second run has then reported its failures.
    for (const { name, message } of first.failures) say(`✖ ${suite.name}: ${name}: ${message.split('\n', 1)[0]}`);
    say(`  ${first.file} of ${suite.name} is run once more, alone.`);
    const [second] = (await runSuite({ ...suite, files: [first.file] }, signal)).files;
    if (signal.aborted) return { results, races: [] };
    if (second !== undefined && (second.failures.length > 0 || ranAsMuch(first, second))) seconds.set(first, second);
  }
  return {
    results: results.map((result) => ({ ...result, files: result.files.map((file) => seconds.get(file) ?? file) })),
    races: failed.filter(({ first }) => seconds.get(first)?.failures.length === 0).map(({ suite, first }) => ({ suite: suite.name, first })),
  };
}

/** A file that skips what failed, or ends before it, has not passed. */
function ranAsMuch(first: FileResult, second: FileResult): boolean {
  const [before, now] = [countsOf([first]), countsOf([second])];
  return now.passed > 0 && now.passed >= before.passed && now.skipped <= before.skipped;
}
