import type { AggregatedResult } from '@jest/test-result';
import { NOT_CHOSEN } from './protocol.ts';
import type { Outcome } from './runner.ts';

/** Prints at the end of `npx jest` why tests were skipped. */
export default class SkipReporter {
  onRunComplete(_contexts: unknown, { testResults }: AggregatedResult): void {
    const skips = testResults.flatMap((file) =>
      (file.testResults as Outcome[]).filter(({ skipReason }) => skipReason !== undefined && skipReason !== NOT_CHOSEN),
    );
    if (skips.length === 0) return;
    process.stderr.write(
      `\nSkipped:\n${skips.map(({ fullName, skipReason }) => `  ${fullName}: ${skipReason}\n`).join('')}`,
    );
  }
}
