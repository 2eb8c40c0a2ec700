import path from 'node:path';
import { run } from 'node:test';
import { inspect } from 'node:util';
import type { Suite } from './suites.ts';

/** Longest time of one test file. Milliseconds. */
const FILE_TIMEOUT_MS = 15 * 60_000;

export interface SuiteResult {
  readonly suite: Suite;
  passed: number;
  readonly failures: { readonly name: string; readonly message: string }[];
  readonly skips: { readonly name: string; readonly reason: string }[];
  seconds: number;
  /** What its files printed that is not the runner's own. */
  output: string;
}

/** Runs each file of a suite in a process of its own, one after another. Never throws: a file that cannot be loaded is a failure. */
export async function runSuite(suite: Suite, signal: AbortSignal): Promise<SuiteResult> {
  const result: SuiteResult = { suite, passed: 0, failures: [], skips: [], seconds: 0, output: '' };
  const started = performance.now();
  const stream = run({
    files: suite.files.map((file) => path.join(suite.cwd, file)),
    cwd: suite.cwd,
    concurrency: 1,
    timeout: FILE_TIMEOUT_MS,
    execArgv: ['--disable-warning=ExperimentalWarning'],
    signal,
  });
  const names: string[] = [];
  const keep = ({ message }: { message: string }): void => {
    result.output = (result.output + message).slice(-200_000);
  };
  stream.on('test:stdout', keep);
  stream.on('test:stderr', keep);
  stream.on('test:start', ({ name, nesting }) => names.splice(nesting, Number.POSITIVE_INFINITY, name));
  stream.on('test:pass', ({ name, nesting, skip, todo, details }) => {
    names.splice(nesting, Number.POSITIVE_INFINITY, name);
    if (details.type === 'suite' && skip === undefined) return;
    const reason = skip ?? todo;
    if (reason === undefined) result.passed += 1;
    else result.skips.push({ name: names.join(' › '), reason: typeof reason === 'string' && reason !== '' ? reason : 'no reason given' });
  });
  stream.on('test:fail', ({ name, nesting, details }) => {
    // What was interrupted has not failed.
    if (signal.aborted) return;
    names.splice(nesting, Number.POSITIVE_INFINITY, name);
    const { error } = details;
    // A suite fails with its tests, and they are counted; its own hooks are not.
    if ((error as { failureType?: string }).failureType === 'subtestsFailed') return;
    result.failures.push({ name: names.join(' › '), message: messageOf(error) });
  });
  await new Promise<void>((resolve) => {
    stream.on('end', resolve);
    stream.on('error', resolve);
    stream.resume();
  });
  result.seconds = (performance.now() - started) / 1000;
  return result;
}

function messageOf(error: Error): string {
  const cause = error.cause ?? error;
  const text = cause instanceof Error ? (cause.stack ?? String(cause)) : typeof cause === 'string' ? cause : inspect(cause, { depth: 4 });
  const more = cause instanceof Error && cause.cause !== undefined ? `\ncaused by: ${inspect(cause.cause, { depth: 3 })}` : '';
  return (text + more).slice(0, 8_000);
}
