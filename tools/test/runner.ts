import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AssertionResult, Test, TestResult } from '@jest/test-result';
import type { Config } from '@jest/types';
import { formatExecError, formatResultsErrors } from 'jest-message-util';
import { NO_TIME } from './deadline.ts';
import type { TestOutcome } from './protocol.ts';
import { nextOf, type Queued } from './queue.ts';
import { run } from './run.ts';
import { expectedSeconds } from './seconds.ts';
import { findSuites, runnableOf, type Suite } from './suites.ts';
import { type FileRun, runInProcess } from './test-process.ts';

const root = path.resolve(import.meta.dirname, '../..');

interface Watcher {
  isInterrupted(): boolean;
}

interface Job extends Queued {
  readonly suite: Suite;
  readonly test: Test;
  /** Seconds. */
  readonly expected: number;
}

/** Jest's own, where no configuration says another. */
const UNSET_MS = 5_000;

/** What Jest's own results have no place for, or drop before the end. */
export type Outcome = AssertionResult & { readonly skipReason?: string };
export type Result = TestResult & { readonly output: string };

/** Runs test files for Jest, each in a process of its own, in bare Node (docs/decisions/0047). */
export default class ProcessRunner {
  readonly isSerial = false;
  readonly #config: Config.GlobalConfig;

  constructor(config: Config.GlobalConfig) {
    this.#config = config;
  }

  async runTests(
    tests: readonly Test[],
    watcher: Watcher,
    onStart: (test: Test) => Promise<void>,
    onResult: (test: Test, result: TestResult) => Promise<void>,
    onFailure: (test: Test, error: { message: string; stack: string }) => Promise<void>,
  ): Promise<void> {
    const found = findSuites(root);
    const suites = new Map(found.map((suite) => [suite.name, suite]));
    const seconds = expectedSeconds(root, found);
    const pending = tests.map(
      (test): Job => ({
        test,
        suite: suites.get(test.context.config.displayName?.name ?? '') ?? foreign(test),
        expected: seconds.get(path.relative(root, test.path).replaceAll(path.sep, '/')) ?? 1,
      }),
    );
    const running = new Set<Job>();
    let prepared = false;
    await new Promise<void>((resolve) => {
      const next = (): Job | undefined =>
        nextOf(pending, { running: [...running], workers: this.#config.maxWorkers, prepared });
      const pump = (): void => {
        if (watcher.isInterrupted() || run.stop.signal.aborted) pending.length = 0;
        for (let job = next(); job !== undefined; job = next()) {
          pending.splice(pending.indexOf(job), 1);
          running.add(job);
          void begin(job);
        }
        if (running.size === 0 && (prepared || pending.length === 0)) resolve();
      };
      const begin = async (job: Job): Promise<void> => {
        try {
          await onStart(job.test);
          const result = run.deadline?.fits(job.expected) === false ? this.#leaveOut(job) : await this.#run(job);
          if (!run.stop.signal.aborted) await onResult(job.test, result);
        } catch (error) {
          await onFailure(job.test, { message: String(error), stack: (error as Error).stack ?? String(error) });
        } finally {
          running.delete(job);
          pump();
        }
      };
      void run.prepared.then(() => {
        prepared = true;
        pump();
      });
      pump();
    });
  }

  #leaveOut({ test, expected }: Job): TestResult {
    run.deadline?.leftOut(expected);
    const now = Date.now();
    const tests = [leftOut(test, `${NO_TIME}: not begun`)];
    return resultOf({ tests, errors: [], ended: false, output: '', coverage: [] }, test, {
      globalConfig: this.#config,
      start: now,
      end: now,
    });
  }

  async #run({ suite, test, expected }: Job): Promise<TestResult> {
    const { config } = test.context;
    const { signal } = run.stop;
    const start = Date.now();
    const ran = await runInProcess(
      {
        file: runnableOf(suite, test.path),
        cache: path.join(config.cacheDirectory, 'compiled'),
        testTimeoutMs: this.#config.testTimeout ?? UNSET_MS,
        maxConcurrency: this.#config.maxConcurrency,
        testNamePattern: this.#config.testNamePattern ?? null,
        locations: config.testLocationInResults,
        coverage: this.#config.collectCoverage,
      },
      suite.cwd,
      run.deadline === null ? signal : AbortSignal.any([signal, run.deadline.signal]),
    );
    const failed = ran.errors.length > 0 || ran.tests.some(({ status }) => status === 'failed');
    run.deadline?.ended(expected, (Date.now() - start) / 1_000, failed);
    if (run.deadline?.signal.aborted === true && !ran.ended)
      ran.tests.push(leftOut(test, `${NO_TIME}: ended before its last test`));
    const [first] = ran.errors;
    // Jest would say only that the file has no test.
    if (ran.tests.length === 0 && first !== undefined)
      throw Object.assign(new Error(first.split('\n').find((line) => /Error\b/.test(line)) ?? first), {
        stack: ran.errors.join('\n\n'),
      });
    return resultOf(ran, test, { globalConfig: this.#config, start, end: Date.now() });
  }
}

interface RunFacts {
  readonly globalConfig: Config.GlobalConfig;
  readonly start: number;
  readonly end: number;
}

function resultOf(
  ran: FileRun,
  { path: testFilePath, context: { config } }: Test,
  { globalConfig, start, end }: RunFacts,
): Result {
  const testResults = ran.tests.map(assertionOf);
  const count = (status: TestOutcome['status']): number => testResults.filter((test) => test.status === status).length;
  const failureMessage = formatResultsErrors(testResults, config, globalConfig, testFilePath);
  const [error] = ran.errors;
  const execErrors = ran.errors.map((stack) =>
    formatExecError({ message: '', stack }, config, globalConfig, testFilePath),
  );
  return {
    console: ran.output === '' ? undefined : [{ message: ran.output, origin: '', type: 'print' }],
    output: ran.output,
    displayName: config.displayName,
    failureMessage: [failureMessage, ...execErrors].filter(Boolean).join('\n') || null,
    leaks: false,
    numFailingTests: count('failed'),
    numPassingTests: count('passed'),
    numPendingTests: count('pending'),
    numTodoTests: count('todo'),
    openHandles: [],
    perfStats: {
      ...NO_STAGES,
      start,
      end,
      runtime: end - start,
      slow: (end - start) / 1000 > config.slowTestThreshold,
    },
    skipped: false,
    snapshot: { added: 0, fileDeleted: false, matched: 0, unchecked: 0, uncheckedKeys: [], unmatched: 0, updated: 0 },
    ...(error !== undefined && {
      testExecError: {
        code: undefined,
        message: ran.errors.join('\n\n'),
        stack: ran.errors.join('\n\n'),
        type: undefined,
      },
    }),
    testFilePath,
    testResults,
    ...(globalConfig.collectCoverage && { v8Coverage: ran.coverage.map(withSource) }),
  } as Result;
}

/** In the place of tests that did not run. */
function leftOut(test: Test, skipReason: string): TestOutcome {
  const title = path.relative(root, test.path).replaceAll(path.sep, '/');
  return {
    ancestorTitles: [],
    title,
    status: 'pending',
    skipReason,
    duration: null,
    failureMessages: [],
    location: null,
  };
}

/** Of a test file that is in no suite of ours: runner.ts serves any configuration of Jest. */
function foreign({ context: { config } }: Test): Suite {
  return {
    name: config.rootDir,
    cwd: config.rootDir,
    folder: '.',
    compiled: false,
    files: [],
    beside: 'any',
    serial: false,
    built: false,
  };
}

const NO_STAGES = {
  loadTestEnvironmentStart: 0,
  loadTestEnvironmentEnd: 0,
  setupFilesStart: 0,
  setupFilesEnd: 0,
  setupAfterEnvStart: 0,
  setupAfterEnvEnd: 0,
};

function assertionOf({ skipReason, ...test }: TestOutcome): Outcome {
  return {
    ...test,
    ...(skipReason !== undefined && { skipReason }),
    fullName: [...test.ancestorTitles, test.title].join(' '),
    failureDetails: [],
    failing: false,
    invocations: 1,
    numPassingAsserts: 0,
    retryReasons: [],
  };
}

/** Ranges of a compiled file are led back to its source by its map. */
function withSource(coverage: FileRun['coverage'][number]): NonNullable<TestResult['v8Coverage']>[number] {
  const url = fileURLToPath(coverage.url);
  const sourceMapPath = `${url}.map`;
  const code = readFileSync(url, 'utf8');
  return {
    codeTransformResult: { code, originalCode: code, sourceMapPath },
    result: { ...coverage, url },
  } as NonNullable<TestResult['v8Coverage']>[number];
}
