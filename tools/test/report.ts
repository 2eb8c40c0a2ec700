import { countsOf, type FileResult, type SuiteResult } from './run-suite.ts';
import type { Race } from './second-look.ts';

/** One line: what a suite came to. */
export function suiteLine({ suite, files, seconds }: SuiteResult): string {
  const { passed, failed, skipped } = countsOf(files);
  const counts = [`${passed} passed`, ...(failed > 0 ? [`${failed} FAILED`] : []), ...(skipped > 0 ? [`${skipped} skipped`] : [])];
  return `${failed === 0 ? '✔' : '✖'} ${suite.name.padEnd(24)} ${counts.join(', ').padEnd(32)} ${seconds.toFixed(1)} s`;
}

/**
 * Failures whole, skips with their reasons, what passed only in the second run with its first failure, and as the last
 * line the counts.
 */
export function report(done: readonly SuiteResult[], races: readonly Race[], extra: { readonly failed: number; readonly stopped: boolean }): string {
  const lines: string[] = [];
  for (const { suite, files } of done) for (const file of files) lines.push(...failuresOf(suite.name, file));

  const skips = done.flatMap(({ suite, files }) => files.flatMap(({ skips }) => skips.map((skip) => ({ ...skip, suite: suite.name }))));
  if (skips.length > 0) lines.push('\nSkipped:');
  for (const { suite, name, reason } of skips) lines.push(`  ${suite}: ${name}: ${reason}`);

  if (races.length > 0) lines.push('\nFailed once and passed alone (races; each is a defect to mend):');
  for (const { suite, first } of races) lines.push(...failuresOf(suite, first));

  const counts = countsOf(done.flatMap(({ files }) => files));
  if (extra.stopped) lines.push('\nStopped before the end.');
  lines.push(`\n${counts.passed} passed, ${counts.failed + extra.failed} failed, ${counts.skipped} skipped`);
  return lines.join('\n');
}

function failuresOf(suite: string, { file, failures, output }: FileResult): string[] {
  if (failures.length === 0) return [];
  return [
    `\n──── ${suite}: ${file} ────`,
    ...failures.map(({ name, message }) => `\n✖ ${name}\n${message}`),
    ...(output.trim() === '' ? [] : [`\noutput of ${file}, its last part:\n${output}`]),
  ];
}
