import { writeSync } from 'node:fs';
import type { IPty } from '@lydell/node-pty';
import { MAX_SHELL_INPUT_BYTES } from '@slipway/contracts/live';

/** How long it waits before it checks again whether the program reads: first, and at most. Milliseconds. */
const LOOK_AGAIN_MS = 5;
const LOOK_AGAIN_AT_MOST_MS = 100;

/**
 * What is typed into a pseudo-terminal, in order, by a user or the agent. Written here and not by the package's stream:
 * of a terminal whose program does not read, the system says that it can be written and then takes nothing, at which
 * that stream would try again without a pause.
 */
export class ShellInput {
  #waiting: Buffer[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #wait = LOOK_AGAIN_MS;

  constructor(private readonly pty: IPty) {}

  /** @returns false when so much waits already that this is thrown away, all of it. */
  write(bytes: Buffer): boolean {
    if (this.#bytes + bytes.length > MAX_SHELL_INPUT_BYTES) return false;
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
    if (this.#timer === undefined) this.#flush();
    return true;
  }

  /** Whether some of it has not been taken by the terminal. */
  get waits(): boolean {
    return this.#waiting.length > 0;
  }

  /** Forgets what waits. */
  discard(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting = [];
    this.#bytes = 0;
  }

  #flush(): void {
    this.#timer = undefined;
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      const written = this.#give(first);
      if (written === 0) {
        this.#timer = setTimeout(() => this.#flush(), this.#wait).unref();
        this.#wait = Math.min(LOOK_AGAIN_AT_MOST_MS, this.#wait * 2);
        return;
      }
      this.#wait = LOOK_AGAIN_MS;
      this.#bytes -= written;
      if (written === first.length) this.#waiting.shift();
      else this.#waiting[0] = first.subarray(written);
    }
  }

  /** How many bytes the terminal has taken. One that is gone takes all. */
  #give(bytes: Buffer): number {
    const { fd, _socket: stream } = this.pty as unknown as { fd: number; _socket: { destroyed: boolean } };
    // Its number may be another file's by now.
    if (stream.destroyed) return bytes.length;
    try {
      return writeSync(fd, bytes);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : bytes.length;
    }
  }
}
