import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Message, Order, ScriptCoverage, TestOutcome } from './protocol.ts';

/** Longest time of one test file. Milliseconds. */
const FILE_TIMEOUT_MS = 15 * 60_000;

/**
 * Longest silence of a file that has a failure: what the failed test left open would keep it until `FILE_TIMEOUT_MS`.
 * Milliseconds.
 */
const FAILED_SILENCE_MS = 3 * 60_000;

/**
 * For the process to end by itself after its last test. Milliseconds; the longest of a real one is some 30 s, of
 * connections kept alive.
 */
const END_MS = 2 * 60_000;

/** Between the request to end and SIGKILL. Milliseconds. */
const KILL_AFTER_MS = 5_000;

/**
 * For its output to be read when it has ended. Milliseconds. What it started may outlive it and hold the output open.
 */
const OUTPUT_MS = 5_000;

/** How much is kept of what a file prints, from its end. Characters. */
const MAX_OUTPUT = 8_000;

export interface Limits {
  readonly fileTimeoutMs?: number;
  readonly failedSilenceMs?: number;
  readonly endMs?: number;
  readonly outputMs?: number;
}

export interface FileRun {
  readonly tests: TestOutcome[];
  /** Failures that belong to no test. */
  readonly errors: string[];
  /** Its last test has ended. */
  ended: boolean;
  /** The last part of what it printed. */
  output: string;
  coverage: readonly ScriptCoverage[];
}

const alive = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/**
 * Runs one test file in a process of its own. A process that crashes, hangs or stays after its tests is a failure
 * beside those of its tests.
 */
export async function runInProcess(
  order: Order,
  cwd: string,
  signal: AbortSignal,
  limits: Limits = {},
): Promise<FileRun> {
  const {
    fileTimeoutMs = FILE_TIMEOUT_MS,
    failedSilenceMs = FAILED_SILENCE_MS,
    endMs = END_MS,
    outputMs = OUTPUT_MS,
  } = limits;
  const run: FileRun = { tests: [], errors: [], ended: false, output: '', coverage: [] };
  // Jest sets NODE_ENV=test for itself; what tests start is what is shipped.
  const { NODE_ENV, ...env } = process.env;
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', path.join(import.meta.dirname, 'child.mjs'), JSON.stringify(order)],
    {
      cwd,
      env: NODE_ENV === 'test' ? env : process.env,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    },
  );
  alive.add(child);
  let current = '';
  let stopped: string | undefined;
  let silence: NodeJS.Timeout | undefined;
  let left: NodeJS.Timeout | undefined;
  const stop = (why?: string): void => {
    stopped ??= why;
    child.kill();
    setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS).unref();
  };
  const heard = (): void => {
    clearTimeout(silence);
    const failed = run.tests.some(({ status }) => status === 'failed');
    if (run.ended) silence = setTimeout(stop, endMs, `${endMs / 1000} s after its last test`);
    else if (failed) silence = setTimeout(stop, failedSilenceMs, `${failedSilenceMs / 1000} s after a failure`);
  };
  const late = setTimeout(stop, fileTimeoutMs, `after ${fileTimeoutMs / 1000} s`);
  const interrupt = (): void => stop();
  if (signal.aborted) interrupt();
  signal.addEventListener('abort', interrupt, { once: true });

  for (const stream of [child.stdout, child.stderr] as Readable[])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      run.output = (run.output + chunk).slice(-MAX_OUTPUT);
      if (!run.ended) heard();
    });
  createInterface({ input: child.stdio[3] as Readable }).on('line', (line) => {
    const message = JSON.parse(line) as Message;
    if (message.kind === 'start') current = message.name;
    if (message.kind === 'test') run.tests.push(message.test);
    if (message.kind === 'end') {
      run.ended = true;
      run.errors.push(...message.errors);
      run.coverage = message.coverage;
    }
    heard();
  });

  const [code, killedBy] = await new Promise<[number | null, string | null]>((resolve) => {
    child.once('error', (error) => resolve([null, error.message]));
    child.once('close', (status, name) => resolve([status, name]));
    child.once('exit', (status, name) => {
      left = setTimeout(() => {
        for (const stream of child.stdio) stream?.destroy();
        resolve([status, name]);
      }, outputMs);
    });
  });
  clearTimeout(left);
  alive.delete(child);
  clearTimeout(silence);
  clearTimeout(late);
  signal.removeEventListener('abort', interrupt);
  const where = current === '' || run.ended ? '' : ` in "${current}"`;
  if (stopped !== undefined)
    run.errors.push(
      `The file had not ended ${stopped}${where} and was ended: something that it started is still open.`,
    );
  else if (!signal.aborted && (!run.ended || code !== 0))
    run.errors.push(`The process of the file ended${where} by itself (${killedBy ?? `code ${code}`}).`);
  return run;
}
