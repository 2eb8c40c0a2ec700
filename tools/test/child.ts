import { writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { jestExpect } from '@jest/expect';
import type { Circus } from '@jest/types';
import { addEventHandler, getState, run, setState } from 'jest-circus';
import { type Message, NOT_CHOSEN, type Order, type TestOutcome } from './protocol.ts';
import { startCoverage } from './script-coverage.ts';

/** Runs one test file with Jest's own circus, in bare Node, and says each outcome as soon as it is known. */
export async function runFile(order: Order): Promise<void> {
  const { testTimeoutMs: testTimeout, maxConcurrency, testNamePattern, locations: includeTestLocationInResult } = order;
  setState({
    ...getState(),
    testTimeout,
    maxConcurrency,
    testNamePattern: testNamePattern === null ? null : new RegExp(testNamePattern, 'i'),
    includeTestLocationInResult,
  });
  jestExpect.setState({ testPath: order.file });
  addEventHandler(onEvent);
  const stray = (error: unknown): void => {
    const { currentlyRunningTest, unhandledErrors } = getState();
    (currentlyRunningTest?.errors ?? unhandledErrors).push(error as Circus.Exception);
  };
  // What nobody waits for fails the test that runs; promises come here, too.
  process.on('uncaughtException', stray);
  const takeCoverage = order.coverage ? await startCoverage() : async () => [];
  const errors: string[] = [];
  try {
    await import(pathToFileURL(order.file).href);
    await run();
  } catch (error) {
    errors.push(messageOf(error));
  }
  errors.push(...getState().unhandledErrors.map(messageOf));
  say({ kind: 'end', errors, coverage: await takeCoverage() });
  process.off('uncaughtException', stray);
}

/** Synchronous, so that nothing is lost when a test ends the process. */
function say(message: Message): void {
  writeSync(3, `${JSON.stringify(message)}\n`);
}

function onEvent(event: Circus.Event): void {
  if (event.name === 'test_start') {
    jestExpect.setState({ currentTestName: titlesOf(event.test).join(' ') });
    say({ kind: 'start', name: titlesOf(event.test).join(' › ') });
  }
  if (event.name === 'test_done') {
    const { test } = event;
    test.errors.push(...jestExpect.extractExpectedAssertionsErrors().map(({ error }) => error));
    say({ kind: 'test', test: outcomeOf(test) });
  }
  if (event.name === 'test_skip' || event.name === 'test_todo') say({ kind: 'test', test: outcomeOf(event.test) });
}

function outcomeOf(test: Circus.TestEntry): TestOutcome {
  const titles = titlesOf(test);
  const errors = test.errors.map(errorOf);
  const skip = errors.find((error) => (error as Error | undefined)?.name === 'SkippedTest');
  const failures = errors.filter((error) => error !== skip);
  const pattern = getState().testNamePattern;
  const aside = pattern !== null && pattern !== undefined && !pattern.test(titles.join(' '));
  const status =
    failures.length > 0
      ? 'failed'
      : test.status === 'todo'
        ? 'todo'
        : test.status === 'skip' || skip !== undefined
          ? 'pending'
          : 'passed';
  return {
    ancestorTitles: titles.slice(0, -1),
    title: test.name,
    status,
    ...(status === 'pending' && {
      skipReason: aside ? NOT_CHOSEN : skip === undefined ? 'no reason given' : (skip as Error).message,
    }),
    duration: test.duration ?? null,
    failureMessages: test.errors.filter((thrown) => errorOf(thrown) !== skip || skip === undefined).map(messageOf),
    location: getState().includeTestLocationInResult ? locationOf(test) : null,
  };
}

function titlesOf(test: Circus.TestEntry): string[] {
  const titles: string[] = [];
  for (
    let block: Circus.TestEntry | Circus.DescribeBlock | undefined = test;
    block?.parent !== undefined;
    block = block.parent
  )
    titles.unshift(block.name);
  return titles;
}

/** Circus keeps what was thrown with an error of the place where the test was declared. */
function errorOf(thrown: Circus.TestError | Circus.Exception): unknown {
  return Array.isArray(thrown) ? (thrown[0] ?? thrown[1]) : thrown;
}

function messageOf(thrown: unknown): string {
  const error = errorOf(thrown as Circus.TestError) as { stack?: string; message?: string } | undefined;
  const place = Array.isArray(thrown)
    ? ((thrown[1] as Error | undefined)?.stack?.replace(/^[\s\S]*?(?=\n {4}at )/, '') ?? '')
    : '';
  const text =
    error?.stack ??
    error?.message ??
    `${typeof error === 'string' ? error : `thrown: ${inspect(error, { depth: 4 })}`}${place}`;
  const cause =
    error instanceof Error && error.cause !== undefined ? `\ncaused by: ${inspect(error.cause, { depth: 3 })}` : '';
  // Jest shows the lines of a path, not of a URL.
  return (text + cause).replaceAll('file:///', '/').slice(0, 8_000);
}

function locationOf(test: Circus.TestEntry): TestOutcome['location'] {
  const [, line, column] = /:(\d+):(\d+)\)?$/m.exec(test.asyncError.stack?.split('\n').slice(1).join('\n') ?? '') ?? [];
  return line === undefined ? null : { line: Number(line), column: Number(column) };
}
