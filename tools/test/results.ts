import path from 'node:path';
import type { TestResult } from '@jest/test-result';
import type { Outcome, Result } from './runner.ts';

/** What a test file came to. */
export interface FileResult {
  readonly suite: string;
  /** From the root. */
  readonly file: string;
  readonly passed: number;
  /** Tests, and what belongs to none of them. */
  readonly failures: readonly { readonly name: string; readonly message: string }[];
  readonly skips: readonly { readonly name: string; readonly reason: string }[];
  /** The last part of what it printed. */
  readonly output: string;
  readonly seconds: number;
}

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Of Jest's result, with each test once. */
export function fileResultOf(root: string, result: TestResult): FileResult {
  const tests = result.testResults as Outcome[];
  const nameOf = ({ ancestorTitles, title }: Outcome): string => [...ancestorTitles, title].join(' › ');
  const file = path.relative(root, result.testFilePath).replaceAll(path.sep, '/');
  const failures = tests
    .filter(({ status }) => status === 'failed')
    .map((test) => ({ name: nameOf(test), message: test.failureMessages.join('\n\n') }));
  const { testExecError } = result;
  return {
    // A file that could not be loaded has no project's name.
    suite: result.displayName?.name ?? file.split('/', /^(?:apps|libs|tests)\//.test(file) ? 2 : 1).join('/'),
    file,
    passed: tests.filter(({ status }) => status === 'passed').length,
    failures:
      testExecError === undefined
        ? failures
        : [...failures, { name: file, message: testExecError.stack ?? testExecError.message }],
    skips: tests
      .filter(({ status }) => status === 'pending' || status === 'todo')
      .map((test) => ({ name: nameOf(test), reason: test.skipReason ?? test.status })),
    output: (result as Result).output ?? '',
    seconds: result.perfStats.runtime / 1000,
  };
}

export function countsOf(files: readonly FileResult[]): Counts {
  return {
    passed: files.reduce((sum, { passed }) => sum + passed, 0),
    failed: files.reduce((sum, { failures }) => sum + failures.length, 0),
    skipped: files.reduce((sum, { skips }) => sum + skips.length, 0),
  };
}
