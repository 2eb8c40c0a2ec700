import { type IPty, spawn } from '@lydell/node-pty';
import type { LiveConnection } from '../http/live.js';
import { killSession } from '../process/kill.js';
import { processRow, signalGroup } from '../process/process-table.js';
import type { OutputAllowance } from '../terminal/output-allowance.js';
import { PacedOutput } from '../terminal/paced-output.js';
import { ShellFeed } from './shell-feed.js';
import { ShellInput } from './shell-input.js';
import type { Viewer } from './viewer.js';

/** From SIGHUP to SIGKILL of what a closed shell still runs. Milliseconds. */
const KILL_AFTER_MS = 1_000;

export interface UserShellOptions {
  readonly id: string;
  readonly title: string;
  readonly cols: number;
  readonly rows: number;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly allowance: OutputAllowance;
}

/** One shell of people in the sandbox: an interactive bash on a pseudo-terminal, which reads their own `~/.bashrc`. */
export class UserShell {
  readonly feed: ShellFeed;
  readonly #pty: IPty;
  readonly #input: ShellInput;

  /**
   * @param changed reports that its size changed or that it ended. @throws when the system gives no terminal or no
   * process.
   */
  constructor({ id, title, cols, rows, cwd, env, allowance }: UserShellOptions, changed: () => void) {
    const pty = spawn('bash', ['-i'], { name: 'xterm-256color', cols, rows, cwd, env: { ...env }, encoding: null });
    this.#pty = pty;
    this.#input = new ShellInput(pty);
    const output = new PacedOutput(pty, allowance, (bytes) => this.feed.push(bytes));
    this.feed = new ShellFeed({ id, owner: 'person', title, cols, rows, exitCode: null }, output, changed);
    pty.onExit(({ exitCode, signal }) => {
      this.#input.discard();
      this.feed.end(signal ? 128 + signal : exitCode);
    });
  }

  /** Attaches a user who watches and types. */
  attach(connection: LiveConnection): Viewer {
    const viewer = this.feed.attach(connection);
    connection.onBytes((bytes) => {
      if (!this.#ended && !this.#input.write(bytes))
        viewer.tell({ type: 'not-typed', reason: 'The program does not read what was typed before.' });
    });
    // A program that draws its own screen draws it again: what is kept may not hold all of it.
    const foreground = this.#ended ? undefined : processRow(this.#pty.pid)?.foreground;
    if (foreground !== undefined && foreground > 0 && foreground !== this.#pty.pid) signalGroup(foreground, 'SIGWINCH');
    return viewer;
  }

  resize(cols: number, rows: number): void {
    const { shell } = this.feed;
    if (this.#ended || (shell.cols === cols && shell.rows === rows)) return;
    this.#pty.resize(cols, rows);
    this.feed.resized(cols, rows);
  }

  interrupt(): void {
    if (this.#ended) return;
    const foreground = processRow(this.#pty.pid)?.foreground;
    signalGroup(foreground !== undefined && foreground > 0 ? foreground : this.#pty.pid, 'SIGINT');
  }

  /** Hangs up, as a closed window does; what does not end by that is killed. */
  close(): void {
    if (this.#ended) return;
    this.#pty.kill('SIGHUP');
    setTimeout(() => this.kill(), KILL_AFTER_MS).unref();
  }

  /** Ends it at once, with everything that it started. */
  kill(): void {
    if (!this.#ended) killSession(this.#pty.pid);
  }

  get #ended(): boolean {
    return this.feed.shell.exitCode !== null;
  }
}
