import { type LiveShell, SHELL_SCROLLBACK_BYTES } from '@slipway/contracts/live';
import type { LiveConnection } from '../http/live.js';
import { Scrollback } from './scrollback.js';
import { Viewer } from './viewer.js';

/**
 * A source that can wait is held while even the quickest reader is this far behind, and let go when it is not. Bytes.
 */
const HOLD_ABOVE = SHELL_SCROLLBACK_BYTES / 2;
const LET_GO_BELOW = SHELL_SCROLLBACK_BYTES / 8;
/** A viewer that has read nothing for this long is not awaited. Milliseconds. */
const PATIENCE_MS = 1_000;

/** What a shell writes, to all viewers: from what is kept of it, then live. */
export class ShellFeed {
  readonly #scrollback = new Scrollback(SHELL_SCROLLBACK_BYTES);
  readonly #viewers = new Set<Viewer>();
  #shell: LiveShell;
  #held: NodeJS.Timeout | undefined;
  /** Have been waited for in vain, and are not until they read on. */
  readonly #stalled = new WeakSet<Viewer>();
  /** Sent already. */
  readonly #endSent = new WeakSet<Viewer>();

  /** @param source what can be held, if it can. @param changed reports that `shell` is another one. */
  constructor(
    shell: LiveShell,
    private readonly source: { pause(): void; resume(): void } | null,
    private readonly changed: () => void,
  ) {
    this.#shell = shell;
  }

  get shell(): LiveShell {
    return this.#shell;
  }

  /** Whether there are viewers. */
  get watched(): boolean {
    return this.#viewers.size > 0;
  }

  /** Sends it what is kept and what follows, for as long as the connection lasts. */
  attach(connection: LiveConnection): Viewer {
    const scrollback = this.#scrollback;
    connection.send({ type: 'attached', shell: this.#shell, cut: scrollback.firstLine > 0 });
    const viewer = new Viewer(connection, scrollback, () => this.#moved(viewer));
    this.#viewers.add(viewer);
    connection.signal.addEventListener('abort', () => {
      this.#viewers.delete(viewer);
      this.#pace();
    });
    viewer.push();
    this.#sendEnd(viewer);
    return viewer;
  }

  push(bytes: Uint8Array): void {
    this.#scrollback.push(bytes);
    for (const viewer of this.#viewers) viewer.push();
    this.#pace();
  }

  resized(cols: number, rows: number): void {
    this.#shell = { ...this.#shell, cols, rows };
    for (const viewer of this.#viewers) viewer.tell({ type: 'resized', cols, rows });
    this.changed();
  }

  end(exitCode: number): void {
    this.#shell = { ...this.#shell, exitCode };
    clearTimeout(this.#held);
    for (const viewer of this.#viewers) this.#sendEnd(viewer);
    this.changed();
  }

  #moved(viewer: Viewer): void {
    this.#stalled.delete(viewer);
    this.#sendEnd(viewer);
    this.#pace();
  }

  #sendEnd(viewer: Viewer): void {
    const { exitCode } = this.#shell;
    if (exitCode === null || viewer.behind > 0 || this.#endSent.has(viewer)) return;
    this.#endSent.add(viewer);
    viewer.tell({ type: 'ended', exitCode });
  }

  /** Holds the source to the pace of its quickest reader, and lets it go on when there is none that reads. */
  #pace(): void {
    const { source } = this;
    if (source === null || this.#shell.exitCode !== null) return;
    const reading = [...this.#viewers].filter((viewer) => !this.#stalled.has(viewer));
    const behind = reading.length === 0 ? 0 : Math.min(...reading.map((viewer) => viewer.behind));
    if (behind > (this.#held === undefined ? HOLD_ABOVE : LET_GO_BELOW)) {
      if (this.#held === undefined) source.pause();
      clearTimeout(this.#held);
      this.#held = setTimeout(() => {
        for (const viewer of reading) this.#stalled.add(viewer);
        this.#pace();
      }, PATIENCE_MS).unref();
    } else if (this.#held !== undefined) {
      clearTimeout(this.#held);
      this.#held = undefined;
      source.resume();
    }
  }
}
