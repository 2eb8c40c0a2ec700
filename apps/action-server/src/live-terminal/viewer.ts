import { SHELL_WINDOW_BYTES, type ShellLiveMessage } from '@slipway/contracts/live';
import type { LiveConnection } from '../http/live.js';
import type { Scrollback } from './scrollback.js';

/** Output goes out in frames of at most this, each followed by a mark. Bytes. */
const FRAME = 32 * 1024;
/** With this much unsent nothing more is sent. Bytes. */
const MAX_UNSENT = 256 * 1024;

/**
 * One reader of a shell: a position in what is kept of it. It gets what follows as fast as it confirms it; output
 * dropped by then is reported as left out, so nothing piles up for it and no other viewer waits.
 */
export class Viewer {
  #position: number;
  /** Bytes of output: sent to it, shown by it, and sent when it was last asked to say so. */
  #sent = 0;
  #seen = 0;
  #marked = 0;
  /** Where what was kept ended; `null` once that has been reported. */
  #kept: number | null;

  /** @param moved reports progress. */
  constructor(
    private readonly connection: LiveConnection,
    private readonly scrollback: Scrollback,
    private readonly moved: () => void,
  ) {
    this.#position = scrollback.firstLine;
    this.#kept = scrollback.end;
    connection.onDrain(() => this.push());
  }

  /** Bytes that it has not been sent. */
  get behind(): number {
    return this.scrollback.end - this.#position;
  }

  tell(message: ShellLiveMessage): void {
    this.connection.send(message);
  }

  seen(at: number): void {
    if (at > this.#seen && at <= this.#sent) this.#seen = at;
    this.push();
  }

  /** Sends what it may have. */
  push(): void {
    const { scrollback, connection } = this;
    const before = this.#sent;
    while (this.behind > 0 && !connection.signal.aborted && connection.buffered <= MAX_UNSENT) {
      const room = this.#seen + SHELL_WINDOW_BYTES - this.#sent;
      if (room <= 0) break;
      if (this.#position < scrollback.start) this.#skip();
      const bytes = scrollback.slice(this.#position, Math.min(FRAME, room));
      connection.sendBytes(bytes);
      this.#position += bytes.length;
      this.#sent += bytes.length;
      if (this.#sent - this.#marked >= FRAME) {
        this.#marked = this.#sent;
        this.tell({ type: 'mark', at: this.#sent });
      }
    }
    if (this.#kept !== null && this.#position >= this.#kept) {
      this.#kept = null;
      this.tell({ type: 'caught-up' });
    }
    if (this.#sent !== before) this.moved();
  }

  #skip(): void {
    const to = this.scrollback.firstLine;
    this.tell({ type: 'skipped', bytes: to - this.#position });
    this.#position = to;
  }
}
