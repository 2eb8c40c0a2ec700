import { setTimeout as wait } from 'node:timers/promises';
import type { ServerProcess } from './sandbox-record.js';

/** Longest wait for the system to say how a process ended that is dead already. Milliseconds. */
const EXIT_WAIT_MS = 1_000;
/** How long that is remembered. Milliseconds. */
const EXIT_KEPT_MS = 60_000;

/** How the processes of this runtime-api end; for others nothing reports it. */
export class ProcessExits {
  private readonly exits = new Map<number, Promise<string>>();

  constructor(private readonly onExit: () => void) {}

  readonly watch = (pid: number, ended: Promise<string>): void => {
    this.exits.set(pid, ended);
    void ended.then(async () => {
      this.onExit();
      // Long enough for whoever wants to know why.
      await wait(EXIT_KEPT_MS, undefined, { ref: false });
      if (this.exits.get(pid) === ended) this.exits.delete(pid);
    });
  };

  /** The system shows that a process is dead a moment before it says how it ended. */
  async howEnded(server: ServerProcess | null): Promise<string> {
    const ended = server === null ? undefined : this.exits.get(server.pid);
    return ended === undefined ? 'ended' : Promise.race([ended, wait(EXIT_WAIT_MS, 'ended', { ref: false })]);
  }
}
