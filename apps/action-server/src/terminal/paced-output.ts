import type { Readable } from 'node:stream';
import type { IPty } from '@lydell/node-pty';
import type { OutputAllowance } from './output-allowance.js';

/** The output of one pseudo-terminal, no faster than the sandbox's allowance, and held as a whole on request. */
export class PacedOutput {
  #held = false;
  #waiting: NodeJS.Timeout | undefined;

  constructor(
    private readonly pty: IPty,
    allowance: OutputAllowance,
    output: (bytes: Buffer) => void,
  ) {
    // With `encoding: null` the package gives buffers, though its types say strings.
    pty.onData((data) => {
      const bytes = data as unknown as Buffer;
      const wait = allowance.take(bytes.length);
      if (wait > 0 && this.#waiting === undefined) this.#wait(wait);
      output(bytes);
    });
    // What is left in a terminal whose programs have ended is little, and is given up if it is not taken soon.
    pty.onExit(() => clearTimeout(this.#waiting));
  }

  pause(): void {
    this.#held = true;
    this.pty.pause();
  }

  resume(): void {
    this.#held = false;
    if (this.#waiting === undefined) this.pty.resume();
  }

  #wait(ms: number): void {
    this.pty.pause();
    this.#waiting = setTimeout(() => {
      this.#waiting = undefined;
      if (!this.#held) this.pty.resume();
    }, ms);
  }
}

/** One stream of a program, no faster than the sandbox's allowance. */
export class PacedStream {
  #waiting: NodeJS.Timeout | undefined;
  #pace = true;

  constructor(
    private readonly stream: Readable,
    allowance: OutputAllowance,
    private output: (bytes: Buffer) => void,
    weigh: (bytes: Buffer) => number = (bytes) => bytes.length,
  ) {
    stream.on('data', (bytes: Buffer) => {
      this.output(bytes);
      // What is read in an idle time is not charged: it would delay the next output.
      const wait = this.#pace ? allowance.take(weigh(bytes)) : 0;
      if (wait === 0) return;
      stream.pause();
      this.#waiting = setTimeout(() => stream.resume(), wait).unref();
    });
    stream.once('close', () => clearTimeout(this.#waiting));
  }

  /** What is there is read without a wait: its program has ended, or is about to. */
  rest(): void {
    this.#pace = false;
    clearTimeout(this.#waiting);
    this.stream.resume();
  }

  /** The pace applies again after an idle time. */
  again(): void {
    this.#pace = true;
  }

  /** What follows is read, at the pace, and thrown away. */
  forget(): void {
    this.#pace = true;
    this.output = () => {};
  }
}
