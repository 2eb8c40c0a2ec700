import { countsOf, type FileResult } from './results.ts';

/** How many of the slowest files are listed. */
const SLOWEST = 10;

/** One line: what a suite came to. Its seconds are those of its files together, some of which ran at the same time. */
export function suiteLine(name: string, files: readonly FileResult[]): string {
  const { passed, failed, skipped } = countsOf(files);
  const counts = [
    `${passed} passed`,
    ...(failed > 0 ? [`${failed} FAILED`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ];
  const seconds = files.reduce((sum, file) => sum + file.seconds, 0);
  return `${failed === 0 ? '✔' : '✖'} ${name.padEnd(24)} ${counts.join(', ').padEnd(32)} ${seconds.toFixed(1)} s`;
}

/**
 * The slowest files, failures whole, skips with their reasons, what passed only at the second look with its first
 * failure, and as the last line the counts.
 */
export function report(
  results: readonly FileResult[],
  races: readonly FileResult[],
  extra: { readonly failed: number; readonly stopped: boolean },
): string {
  const lines: string[] = [];
  const slowest = [...results].sort((one, other) => other.seconds - one.seconds).slice(0, SLOWEST);
  if (slowest.length > 0)
    lines.push(
      '\nThe slowest files:',
      ...slowest.map(({ file, seconds }) => `  ${seconds.toFixed(1).padStart(6)} s ${file}`),
    );
  lines.push(...results.flatMap(failuresOf));

  const skips = results.flatMap(({ suite, skips }) => skips.map((skip) => ({ ...skip, suite })));
  if (skips.length > 0) lines.push('\nSkipped:');
  for (const { suite, name, reason } of skips) lines.push(`  ${suite}: ${name}: ${reason}`);

  if (races.length > 0) lines.push('\nFailed once and passed alone (races; each is a defect to mend):');
  lines.push(...races.flatMap(failuresOf));

  const counts = countsOf(results);
  if (extra.stopped) lines.push('\nStopped before the end.');
  lines.push(`\n${counts.passed} passed, ${counts.failed + extra.failed} failed, ${counts.skipped} skipped`);
  return lines.join('\n');
}

/** Whole, with what the file printed last. */
function failuresOf({ suite, file, failures, output }: FileResult): string[] {
  if (failures.length === 0) return [];
  return [
    `\n──── ${suite}: ${file} ────`,
    ...failures.map(({ name, message }) => `\n✖ ${name}\n${message}`),
    ...(output.trim() === '' ? [] : [`\noutput of ${file}, its last part:\n${output}`]),
  ];
}
