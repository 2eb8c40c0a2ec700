import path from 'node:path';
import { MAIN_SESSION, type TerminalAction, type TerminalObservation } from '@slipway/contracts/actions';
import type { z } from 'zod';
import type { Call } from './call-output.js';
import { tooManySessions } from './messages.js';
import { Terminal, type TerminalOptions } from './terminal.js';
import type { TerminalWatch } from './terminal-watch.js';

type Action = z.output<typeof TerminalAction>;
type Observation = z.output<typeof TerminalObservation>;

/** Most terminals at once: each is a shell with what it runs. */
const MAX_SESSIONS = 8;

/**
 * The agent's terminals by name, each with a shell, directory and variables of its own; actions in different ones run
 * beside each other. One whose shell was ended is forgotten when its place is needed.
 */
export class Terminals {
  #sessions = new Map<string, Terminal>();
  /** Where a new terminal begins, when that is not the workspace. */
  #home: string | undefined;
  #lastUsed: Terminal;

  /** @param watch who sees what happens in a terminal, by its name. */
  constructor(
    private readonly options: TerminalOptions,
    private readonly watch?: (session: string) => TerminalWatch,
  ) {
    this.#lastUsed = this.#open(MAIN_SESSION);
  }

  /** Where the shell of the terminal that was used last is. */
  get directory(): string {
    return this.#lastUsed.directory;
  }

  /** Where a new shell begins. */
  get home(): string {
    return this.#home ?? this.options.workspace;
  }

  /** As `Terminal.execute`, in the terminal that the action names. */
  async execute(action: Action, signal: AbortSignal, call?: Call): Promise<Observation> {
    const name = action.session ?? MAIN_SESSION;
    const terminal = this.#sessions.get(name) ?? (this.#hasRoom() ? this.#open(name) : undefined);
    if (terminal === undefined)
      return this.#lastUsed.refusal(action, tooManySessions(MAX_SESSIONS, [...this.#sessions.keys()]));
    this.#lastUsed = terminal;
    const observation = await terminal.execute(action, signal, call);
    return name === MAIN_SESSION ? observation : { ...observation, session: name };
  }

  /**
   * Stops the program in the foreground of the terminal that was used last; what was left running in others, such as a
   * server, runs on.
   */
  interrupt(): Promise<void> {
    return this.#lastUsed.interrupt();
  }

  /** The next commands run in new shells, as `Terminal.renew`. */
  renew(home?: string): void {
    this.#home = home ?? this.#home;
    for (const terminal of this.#sessions.values()) terminal.renew(home);
  }

  close(): void {
    for (const terminal of this.#sessions.values()) terminal.close();
  }

  #open(name: string): Terminal {
    const terminal = new Terminal({
      ...this.options,
      outputDirectory: path.join(this.options.outputDirectory, name),
      watch: this.watch?.(name),
    });
    if (this.#home !== undefined) terminal.renew(this.#home);
    this.#sessions.set(name, terminal);
    return terminal;
  }

  #hasRoom(): boolean {
    for (const [name, terminal] of this.#sessions) {
      if (this.#sessions.size < MAX_SESSIONS) break;
      if (name !== MAIN_SESSION && terminal !== this.#lastUsed && terminal.isEmpty) this.#sessions.delete(name);
    }
    return this.#sessions.size < MAX_SESSIONS;
  }
}
