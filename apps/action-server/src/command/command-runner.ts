import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { RunCommandRequest, RunCommandResponse } from '@slipway/contracts/actions';
import { SlipwayError } from '@slipway/errors';
import { asWorkspacePath } from '../files/workspace-path.js';
import { groupExists, signalGroup } from '../process/process-table.js';
import { OutputAllowance } from '../terminal/output-allowance.js';
import { PacedStream } from '../terminal/paced-output.js';
import type { ShellEnvironment } from '../terminal/shell-environment.js';
import { OutputTail } from './output-tail.js';

/** From SIGTERM to SIGKILL of a command that is over its time or not wanted any more. Milliseconds. */
const KILL_AFTER_MS = 500;
/** How long the output of what a command left behind is still waited for, once it has ended itself. Milliseconds. */
const DRAIN_MS = 100;
/** What commands may print as fast as they can, and from then on. Bytes; bytes a millisecond (32 MiB a second). */
const AT_ONCE = 64 * 1024 * 1024;
const PER_MS = (32 * 1024 * 1024) / 1_000;

/**
 * Commands outside of the agent's terminal: clone, setup script, hooks. Each is a bash of its own in a process group of
 * its own.
 */
export class CommandRunner {
  /** Also groups whose first process has ended: a setup script may leave a server behind. */
  #groups = new Set<number>();

  /** Pipes are read in larger pieces than terminals: the same work takes more. */
  readonly #allowance = new OutputAllowance(undefined, AT_ONCE, PER_MS);

  constructor(
    private readonly workspace: string,
    private readonly environment: ShellEnvironment,
  ) {}

  /** An abort or the timeout ends the whole group; the abort then rejects. */
  async run(request: RunCommandRequest, signal: AbortSignal): Promise<RunCommandResponse> {
    const cwd = asWorkspacePath(this.workspace, request.cwd ?? this.workspace);
    if (!(await stat(cwd).catch(() => undefined))?.isDirectory())
      throw new SlipwayError('file.not-found', `There is no directory ${cwd}.`);
    signal.throwIfAborted();
    const started = performance.now();
    const child = startBash(request.command, cwd, { ...this.environment.variables('script'), ...request.env });
    const stdout = new OutputTail();
    const stderr = new OutputTail();
    const streams = [
      new PacedStream(child.stdout, this.#allowance, (chunk) => stdout.push(chunk)),
      new PacedStream(child.stderr, this.#allowance, (chunk) => stderr.push(chunk)),
    ];
    const group = child.pid;
    if (group === undefined) await failureOf(child);
    else this.#groups.add(group);

    let timedOut = false;
    let killing: NodeJS.Timeout | undefined;
    const end = (): void => {
      signalGroup(group as number, 'SIGTERM');
      killing ??= setTimeout(() => signalGroup(group as number, 'SIGKILL'), KILL_AFTER_MS);
    };
    const timer = setTimeout(() => {
      timedOut = true;
      end();
    }, request.timeout * 1000);
    signal.addEventListener('abort', end, { once: true });
    try {
      const closed = closeOf(child);
      const exitCode = await exitOf(child);
      if (timedOut || signal.aborted) signalGroup(group as number, 'SIGKILL');
      // What is left in them is little. Something in the background may hold them for as long as it likes.
      for (const stream of streams) stream.rest();
      await Promise.race([closed, wait(DRAIN_MS)]);
      signal.throwIfAborted();
      return {
        exitCode: timedOut ? -1 : exitCode,
        timedOut,
        stdout: stdout.text(),
        stderr: stderr.text(),
        elapsedMs: performance.now() - started,
      };
    } finally {
      clearTimeout(timer);
      clearTimeout(killing);
      signal.removeEventListener('abort', end);
      // Background processes may go on writing: the output is dropped, and a closed pipe would end them.
      for (const stream of streams) stream.forget();
      child.unref();
      this.#forgetEmptyGroups();
    }
  }

  /** The system gives the id of an empty group to others: only non-empty groups may be signalled later. */
  #forgetEmptyGroups(): void {
    for (const group of this.#groups) if (!groupExists(group)) this.#groups.delete(group);
  }

  /** Ends every command, and what earlier ones left running. */
  close(): void {
    this.#forgetEmptyGroups();
    for (const group of this.#groups) signalGroup(group, 'SIGKILL');
    this.#groups.clear();
  }
}

/** In a process group of its own. @throws SlipwayError `request.invalid` for what no program can be given. */
function startBash(
  command: string,
  cwd: string,
  env: Record<string, string>,
): ChildProcessByStdio<null, Readable, Readable> {
  if ([command, ...Object.keys(env), ...Object.values(env)].some((text) => text.includes('\0')))
    throw new SlipwayError(
      'request.invalid',
      'Not run: the command or its environment holds a NUL character, which no program can be given.',
    );
  try {
    return spawn('bash', ['-c', command], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'E2BIG') throw error;
    throw new SlipwayError(
      'request.invalid',
      `Not run: the command (${command.length} characters) or its environment is longer than the system gives to a program. Write it to a file and run that.`,
      { cause: error },
    );
  }
}

function failureOf(child: ChildProcess): Promise<never> {
  return new Promise((_, reject) =>
    child.once('error', (error) =>
      reject(
        new SlipwayError('sandbox.tool-unavailable', 'No process can be started in the sandbox now.', { cause: error }),
      ),
    ),
  );
}

/** As bash says it: 128 + n for signal n. */
function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : (SIGNAL_NUMBERS[signal] ?? 0))));
  });
}

const SIGNAL_NUMBERS: Partial<Record<NodeJS.Signals, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGTERM: 15,
};

/** Both streams have ended. */
function closeOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => child.once('close', () => resolve()));
}
