import path from 'node:path';
import type { Test, TestResult } from '@jest/test-result';
import { suiteLine } from './report.ts';
import { type FileResult, fileResultOf } from './results.ts';
import { findSuites } from './suites.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** What `npm test` prints while it runs: failures at once, and a line for each suite that has ended. */
export default class ProgressReporter {
  readonly #left = new Map(findSuites(root).map(({ name, files }) => [name, files.length]));
  readonly #done: FileResult[] = [];

  onTestResult(_test: Test, jestResult: TestResult): void {
    const result = fileResultOf(root, jestResult);
    this.#done.push(result);
    // At once: a run that is ended from outside has then said what failed.
    for (const { name, message } of result.failures)
      console.log(`✖ ${result.suite}: ${name}: ${message.split('\n', 1)[0]}`);
    const left = (this.#left.get(result.suite) ?? 0) - 1;
    this.#left.set(result.suite, left);
    if (left === 0)
      console.log(
        suiteLine(
          result.suite,
          this.#done.filter(({ suite }) => suite === result.suite),
        ),
      );
  }
}
