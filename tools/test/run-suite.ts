import path from 'node:path';
import { run } from 'node:test';
import { inspect } from 'node:util';
import type { Suite } from './suites.ts';

/** Longest time of one test file. Milliseconds. */
const FILE_TIMEOUT_MS = 15 * 60_000;

/** Longest silence of a file that has a failure: what the failed test left open would keep it until `FILE_TIMEOUT_MS`. Milliseconds. */
const FAILED_SILENCE_MS = 3 * 60_000;

/** How much is kept of what a file prints, from its end. Characters. */
const MAX_OUTPUT = 8_000;

interface Failure {
  readonly name: string;
  readonly message: string;
}

export interface FileResult {
  /** As the suite lists it. */
  readonly file: string;
  passed: number;
  readonly failures: Failure[];
  readonly skips: { readonly name: string; readonly reason: string }[];
  /** The last part of what it printed that is not the runner's own. */
  output: string;
}

export interface SuiteResult {
  readonly suite: Suite;
  readonly files: FileResult[];
  readonly seconds: number;
}

interface Limits {
  readonly fileTimeoutMs?: number;
  readonly failedSilenceMs?: number;
}

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/**
 * Runs each file of a suite in a process of its own, one after another. Never throws: a file that cannot be loaded is a failure, and so is one
 * that has not ended after `fileTimeoutMs`, or that says nothing for `failedSilenceMs` after a failure.
 */
export async function runSuite(
  suite: Suite,
  signal: AbortSignal,
  { fileTimeoutMs = FILE_TIMEOUT_MS, failedSilenceMs = FAILED_SILENCE_MS }: Limits = {},
): Promise<SuiteResult> {
  const started = performance.now();
  const files: FileResult[] = [];
  for (const file of suite.files) if (!signal.aborted) files.push(await runFile(suite.cwd, file, signal, { fileTimeoutMs, failedSilenceMs }));
  return { suite, files, seconds: (performance.now() - started) / 1000 };
}

export function countsOf(files: readonly FileResult[]): Counts {
  return {
    passed: files.reduce((sum, { passed }) => sum + passed, 0),
    failed: files.reduce((sum, { failures }) => sum + failures.length, 0),
    skipped: files.reduce((sum, { skips }) => sum + skips.length, 0),
  };
}

/** One call of the runner a file: a test's own `file` is where its `it` stands, which may be another one. */
async function runFile(cwd: string, file: string, signal: AbortSignal, limits: Required<Limits>): Promise<FileResult> {
  const result: FileResult = { file, passed: 0, failures: [], skips: [], output: '' };
  // The runner's own `timeout` leaves a file alone whose tests have ended and whose process has not.
  const late = AbortSignal.timeout(limits.fileTimeoutMs);
  const silent = new AbortController();
  let silence: NodeJS.Timeout | undefined;
  const heard = (): void => {
    if (result.failures.length === 0) return;
    clearTimeout(silence);
    silence = setTimeout(() => silent.abort(), limits.failedSilenceMs);
  };
  const stream = run({
    files: [path.join(cwd, file)],
    cwd,
    concurrency: 1,
    execArgv: ['--disable-warning=ExperimentalWarning'],
    signal: AbortSignal.any([signal, late, silent.signal]),
  });
  const names: string[] = [];
  const keep = ({ message }: { message: string }): void => {
    result.output = (result.output + message).slice(-MAX_OUTPUT);
    heard();
  };
  stream.on('test:stdout', keep);
  stream.on('test:stderr', keep);
  stream.on('test:start', ({ name, nesting }) => {
    names.splice(nesting, Number.POSITIVE_INFINITY, name);
    heard();
  });
  stream.on('test:pass', ({ name, nesting, skip, todo, details }) => {
    names.splice(nesting, Number.POSITIVE_INFINITY, name);
    if (details.type === 'suite' && skip === undefined) return;
    const reason = skip ?? todo;
    if (reason === undefined) result.passed += 1;
    else result.skips.push({ name: names.join(' › '), reason: typeof reason === 'string' && reason !== '' ? reason : 'no reason given' });
  });
  stream.on('test:fail', ({ name, nesting, details }) => {
    // What was interrupted has not failed.
    if (signal.aborted || late.aborted || silent.signal.aborted) return;
    names.splice(nesting, Number.POSITIVE_INFINITY, name);
    const { error } = details;
    // A suite fails with its tests, and they are counted; its own hooks are not.
    if ((error as { failureType?: string }).failureType === 'subtestsFailed') return;
    result.failures.push({ name: names.join(' › '), message: messageOf(error) });
    heard();
  });
  await new Promise<void>((resolve) => {
    stream.on('end', resolve);
    stream.on('error', resolve);
    stream.resume();
  });
  clearTimeout(silence);
  if (late.aborted || silent.signal.aborted) {
    const when = late.aborted ? `after ${limits.fileTimeoutMs / 1000} s` : `${limits.failedSilenceMs / 1000} s after a failure`;
    const message = `The file had not ended ${when} and was ended: something that it started is still open.`;
    result.failures.push({ name: names.join(' › ') || file, message });
  }
  return result;
}

function messageOf(error: Error): string {
  const cause = error.cause ?? error;
  const text = cause instanceof Error ? (cause.stack ?? String(cause)) : typeof cause === 'string' ? cause : inspect(cause, { depth: 4 });
  const more = cause instanceof Error && cause.cause !== undefined ? `\ncaused by: ${inspect(cause.cause, { depth: 3 })}` : '';
  return (text + more).slice(0, 8_000);
}
