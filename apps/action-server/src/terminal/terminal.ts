import { statSync } from 'node:fs';
import os from 'node:os';
import type { TerminalAction, TerminalObservation } from '@slipway/contracts/actions';
import type { z } from 'zod';
import { freeBytes } from '../files/disk-space.js';
import { signalGroup } from '../process/process-table.js';
import type { Call, CallOutput } from './call-output.js';
import { keysOf } from './keys.js';
import type { EndOfCommand } from './marker-scanner.js';
import * as messages from './messages.js';
import type { OutputAllowance } from './output-allowance.js';
import { OutputRecorder, type RecordedOutput } from './output-recorder.js';
import { pythonIn } from './python-path.js';
import { Shell } from './shell.js';
import type { ShellEnvironment } from './shell-environment.js';
import type { ShellStarts } from './shell-starts.js';
import type { TerminalWatch } from './terminal-watch.js';

type Action = z.output<typeof TerminalAction>;
type Observation = z.output<typeof TerminalObservation>;

/** Longest command. UTF-16 code units. */
const MAX_COMMAND = 1_000_000;
/**
 * From SIGINT to SIGKILL of a command that the agent stops, and from there to the end of the shell. Milliseconds;
 * together under a second.
 */
const KILL_AFTER_MS = 250;
const GIVE_UP_AFTER_MS = 600;
const KILL_AGAIN_EVERY_MS = 50;
/** Less free space than this, after a command that failed, is worth a word. Bytes. */
const DISK_FULL_BELOW = 1024 * 1024;

const USERNAME = nameOfUser();

type Outcome = 'ended' | 'quiet' | 'hard-timeout' | 'aborted';

/** A command from its start until its end has been reported. */
interface Run {
  readonly sequence: number;
  readonly command: string;
  readonly recorder: OutputRecorder;
  lastOutputAt: number;
  end?: EndOfCommand;
  /** Instead of `end`, when the shell went with the command. */
  shellExitCode?: number;
  wake: () => void;
}

export interface TerminalOptions {
  readonly workspace: string;
  /** For the files of long outputs. */
  readonly outputDirectory: string;
  readonly environment: ShellEnvironment;
  /** Of all terminals of the sandbox together. */
  readonly allowance: OutputAllowance;
  readonly starts: ShellStarts;
  /** How long a command without a timeout may print nothing before the action answers. Milliseconds. */
  readonly quietMs?: number;
  /** Sees what happens in it. */
  readonly watch?: TerminalWatch | undefined;
}

/**
 * One terminal of the agent. Actions are done one after another. A command that outlives its action stays in the
 * foreground: the next actions read more of it, type into it, or interrupt it, and a new command is refused until it
 * has ended.
 */
export class Terminal {
  #shell: Shell | undefined;
  #run: Run | undefined;
  /**
   * The shell is of before a renewal, and is ended with what runs in it; where the next one begins, when that is
   * another place.
   */
  #afterRun: { readonly directory: string | null } | null = null;
  #background: OutputRecorder;
  #sequence = 0;
  /** Where a new terminal begins. */
  #home: string;
  #directory: string;
  #searchPath = '';
  #backgroundPid = -1;
  #turn: Promise<unknown> = Promise.resolve();
  /** Of the action that is done now. */
  #output: CallOutput | undefined;
  /** Actions that have not answered. */
  #underWay = 0;

  constructor(private readonly options: TerminalOptions) {
    this.#home = options.workspace;
    this.#directory = options.workspace;
    this.#background = this.#newRecorder('background');
  }

  /** Nothing runs or waits for its turn, and there is no shell: nothing is lost with this terminal. */
  get isEmpty(): boolean {
    return this.#underWay === 0 && this.#shell === undefined && this.#run === undefined;
  }

  /** Where the shell was when its last command ended. */
  get directory(): string {
    return existing(this.#directory, this.options.workspace);
  }

  /**
   * Answers when the command ended or a timeout passed; `output` is given what it prints until then, and its
   * programs name the action at egress-proxy. An abort stops the program in the foreground within a second, and
   * rejects.
   */
  async execute(action: Action, signal: AbortSignal, { output, actionId }: Call = {}): Promise<Observation> {
    const before = this.#turn;
    const turn = before.then(() => {
      signal.throwIfAborted();
      this.#output = output;
      return this.#execute(action, signal, actionId).finally(() => {
        this.#output = undefined;
      });
    });
    this.#underWay += 1;
    this.#turn = turn
      .catch(() => undefined)
      .finally(() => {
        this.#underWay -= 1;
      });
    return turn;
  }

  /**
   * Stops the program in the foreground as an abort of its action does: for one that has outlived its action. Without
   * one, nothing happens.
   */
  async interrupt(): Promise<void> {
    const turn = this.#turn.then(async () => {
      if (this.#run !== undefined && !hasEnded(this.#run)) await this.#stop(this.#run);
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /** The next command runs in a new shell with the environment of then; in `home`, if that is another than before. */
  renew(home = this.#home): void {
    const isMoved = home !== this.#home;
    if (isMoved) {
      this.#home = home;
      this.#directory = home;
    }
    // What runs, and what it has printed, is not taken from the agent: then the command after it has the new shell.
    if (this.#run === undefined) this.#endShell();
    else this.#afterRun = { directory: isMoved ? home : (this.#afterRun?.directory ?? null) };
  }

  close(): void {
    this.#endShell();
  }

  async #execute(action: Action, signal: AbortSignal, actionId: string | undefined): Promise<Observation> {
    const { command, is_input: isInput } = action;
    if (action.reset && isInput) return this.refusal(action, messages.RESET_WITH_INPUT);
    if (command.includes('\0')) return this.refusal(action, messages.NUL_IN_COMMAND);
    if (command.length > MAX_COMMAND) return this.refusal(action, messages.tooLong(command.length, MAX_COMMAND));
    if (action.reset) {
      this.#endShell();
      this.#directory = this.#home;
      if (command.trim() === '') return this.#observation(action, { text: messages.RESET_DONE, exitCode: 0 });
    }
    const running = this.#run !== undefined && !hasEnded(this.#run);
    if (isInput) {
      if (!running)
        return this.#run === undefined
          ? this.refusal(action, messages.NOTHING_RUNS)
          : this.#answer(action, 'ended', true);
      if (command !== '') {
        if (this.#shell?.type(keysOf(command)) === false) return this.refusal(action, messages.NOT_READ);
        this.options.watch?.typed(command);
      }
      return this.#answer(action, await this.#wait(action, signal), true);
    }
    if (command.trim() === '') {
      if (this.#run === undefined) return this.refusal(action, messages.NOTHING_TO_READ);
      return this.#answer(action, await this.#wait(action, signal), true);
    }
    if (this.#run !== undefined && running) return this.refusal(action, messages.busy(this.#run.command), -1);
    const unread = this.#takeUnread();
    await this.#begin(command, actionId, signal);
    return this.#answer(action, await this.#wait(action, signal), false, unread);
  }

  async #begin(command: string, actionId: string | undefined, signal: AbortSignal): Promise<void> {
    if (this.#afterRun !== null) {
      this.#directory = this.#afterRun.directory ?? this.#directory;
      this.#endShell();
    }
    if (this.#shell === undefined || this.#shell.ended) {
      await this.options.starts.turn(signal);
      this.#shell = this.#newShell();
    }
    this.#sequence += 1;
    this.#run = {
      sequence: this.#sequence,
      command,
      recorder: this.#newRecorder(`${Date.now()}-${this.#sequence}`),
      lastOutputAt: performance.now(),
      wake: () => {},
    };
    this.options.watch?.command(command);
    this.#shell.run(this.#sequence, command, actionId);
  }

  #newShell(): Shell {
    const shell: Shell = new Shell(
      {
        cwd: existing(this.#directory, this.options.workspace),
        env: this.options.environment.variables(),
        allowance: this.options.allowance,
      },
      {
        output: (sequence, bytes) => {
          if (this.#shell !== shell) return;
          this.options.watch?.output(bytes);
          const run = this.#run;
          if (run === undefined || run.sequence !== sequence) return this.#background.push(bytes);
          run.recorder.push(bytes);
          this.#output?.push(bytes);
          run.lastOutputAt = performance.now();
        },
        end: (end) => {
          if (this.#shell !== shell) return;
          this.#directory = end.workingDirectory;
          this.#searchPath = end.searchPath;
          this.#backgroundPid = end.backgroundPid;
          if (this.#run?.sequence !== end.sequence) return;
          this.#run.end = end;
          this.options.watch?.ended(end.exitCode);
          this.#run.wake();
        },
        exit: (exitCode) => {
          if (this.#shell !== shell) return;
          this.#shell = undefined;
          if (this.#run === undefined || hasEnded(this.#run)) return;
          this.#run.shellExitCode = exitCode;
          this.options.watch?.ended(exitCode);
          this.#run.wake();
        },
      },
    );
    return shell;
  }

  #endShell(): void {
    const shell = this.#shell;
    this.#afterRun = null;
    this.#shell = undefined;
    shell?.kill();
    this.#run?.recorder.close();
    this.#run = undefined;
  }

  async #wait(action: Action, signal: AbortSignal): Promise<Outcome> {
    const run = this.#run as Run;
    const started = performance.now();
    run.lastOutputAt = started;
    const quietMs = this.options.quietMs ?? 30_000;
    while (!hasEnded(run)) {
      if (signal.aborted) {
        await this.#stop(run);
        throw signal.reason;
      }
      const left =
        typeof action.timeout === 'number'
          ? started + action.timeout * 1000 - performance.now()
          : run.lastOutputAt + quietMs - performance.now();
      if (left <= 0) return typeof action.timeout === 'number' ? 'hard-timeout' : 'quiet';
      await changeWithin(run, left, signal);
    }
    return 'ended';
  }

  /**
   * SIGINT, soon after SIGKILL to each program that comes to the foreground, and at last the shell itself, so that
   * nothing runs on for a second.
   */
  async #stop(run: Run): Promise<void> {
    const started = performance.now();
    const { signal } = new AbortController();
    this.#shell?.interrupt();
    while (!hasEnded(run)) {
      const elapsed = performance.now() - started;
      if (elapsed >= GIVE_UP_AFTER_MS) return this.#endShell();
      if (elapsed >= KILL_AFTER_MS) {
        const group = this.#shell?.foregroundGroup();
        if (group === undefined) this.#shell?.interrupt();
        else signalGroup(group, 'SIGKILL');
      }
      await changeWithin(run, elapsed < KILL_AFTER_MS ? KILL_AFTER_MS - elapsed : KILL_AGAIN_EVERY_MS, signal);
    }
    run.recorder.close();
    this.#run = undefined;
  }

  async #answer(action: Action, outcome: Outcome, continued: boolean, unread = ''): Promise<Observation> {
    const run = this.#run as Run;
    const output = run.recorder.take();
    const prefix = unread !== '' ? messages.EARLIER_PREFIX + unread : continued ? messages.CONTINUED_PREFIX : '';
    if (outcome !== 'ended') {
      const seconds = action.timeout ?? (this.options.quietMs ?? 30_000) / 1000;
      const suffix = outcome === 'quiet' ? messages.quietSuffix(seconds) : messages.hardTimeoutSuffix(seconds);
      return this.#observation(action, { text: output.text, exitCode: -1, output, prefix, suffix, timeout: true });
    }
    run.recorder.close();
    this.#run = undefined;
    if (run.end === undefined) {
      // bash says `exit` to a terminal when it leaves.
      const text = output.text.replace(/(^|\n)exit\n?$/, '$1').replace(/\n+$/, '');
      const exitCode = run.shellExitCode ?? 1;
      this.#directory = existing(this.#directory, this.options.workspace);
      return this.#observation(action, {
        text,
        exitCode,
        output,
        prefix,
        suffix: messages.shellEndedSuffix(exitCode, this.#directory),
      });
    }
    const full =
      output.diskFull || (run.end.exitCode !== 0 && (await freeBytes(this.options.workspace)) < DISK_FULL_BELOW);
    const suffix = messages.completedSuffix(run.end.exitCode) + (full ? messages.diskFullSuffix : '');
    return this.#observation(action, {
      text: output.text.replace(/\n+$/, ''),
      exitCode: run.end.exitCode,
      output,
      prefix,
      suffix,
      diskFull: full,
    });
  }

  /** What a command that ended in between, and background jobs, have printed since the last answer. */
  #takeUnread(): string {
    const unread = [this.#run?.recorder.take().text ?? '', this.#background.take().text]
      .filter((text) => text.trim() !== '')
      .join('\n');
    this.#run?.recorder.close();
    this.#run = undefined;
    return unread;
  }

  /** An answer that says why nothing was run. */
  refusal(action: Action, text: string, exitCode: number | null = null): Observation {
    return { ...this.#observation(action, { text, exitCode: exitCode ?? 1 }), exit_code: exitCode, is_error: true };
  }

  #observation(
    action: Action,
    result: {
      text: string;
      exitCode: number;
      output?: RecordedOutput;
      prefix?: string;
      suffix?: string;
      timeout?: boolean;
      diskFull?: boolean;
    },
  ): Observation {
    return {
      kind: 'TerminalObservation',
      content: [{ type: 'text', text: result.text }],
      is_error: false,
      command: action.command,
      exit_code: result.exitCode,
      timeout: result.timeout ?? false,
      metadata: {
        exit_code: result.exitCode,
        pid: this.#backgroundPid,
        username: USERNAME,
        hostname: os.hostname(),
        working_dir: this.#directory,
        py_interpreter_path: pythonIn(this.#searchPath),
        prefix: result.prefix ?? '',
        suffix: result.suffix ?? '',
      },
      full_output_save_dir: result.output?.file ?? null,
      ...(result.diskFull ? { error_code: 'sandbox.disk-full' } : {}),
    };
  }

  #newRecorder(name: string): OutputRecorder {
    return new OutputRecorder(this.options.outputDirectory, name);
  }
}

function hasEnded(run: Run): boolean {
  return run.end !== undefined || run.shellExitCode !== undefined;
}

/** Resolves at the end of the command, at the abort, or after `ms`, whichever is first. */
function changeWithin(run: Run, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      run.wake = () => {};
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
    run.wake = done;
  });
}

/** The directory, or the other when it has been deleted, may be unreadable or not a directory. */
function existing(directory: string, otherwise: string): string {
  try {
    return statSync(directory).isDirectory() ? directory : otherwise;
  } catch {
    return otherwise;
  }
}

/** A container may run under a number that has no name. */
function nameOfUser(): string | null {
  try {
    return os.userInfo().username;
  } catch {
    return null;
  }
}
