import { SlipwayError } from '@slipway/errors';
import type { ConversationHub } from './conversation-hub.js';
import type { LogLine } from './log-line.js';

/**
 * Reads a log from a cursor to its live end, at the reader's own speed: from memory when it is near, else from the
 * database.
 *
 * When `atHead` is true the reader has all that the hub has sent; if it begins to listen in that very tick, history and
 * live join without a gap: what was committed before has been given, what comes later comes to listeners.
 */
export class LogReader {
  constructor(
    private readonly hub: ConversationHub,
    /** Last `seq` that the reader has. */
    public cursor: number,
  ) {}

  /**
   * @throws SlipwayError `request.invalid` when the cursor is past the end of the log, even after a read of the
   * database.
   */
  static async at(hub: ConversationHub, cursor: number): Promise<LogReader> {
    // A client may have come from a replica that is ahead of this one.
    if (cursor > hub.head) await hub.behind(cursor);
    if (cursor > hub.head)
      throw new SlipwayError('request.invalid', `The log ends at ${hub.head}, before the position ${cursor}.`);
    return new LogReader(hub, cursor);
  }

  get atHead(): boolean {
    return this.cursor >= this.hub.head;
  }

  /**
   * The lines that follow the cursor; at the head none. Moves the cursor behind them. @throws when the log cannot be
   * read.
   */
  async next(): Promise<readonly LogLine[]> {
    const lines = (await this.hub.page(this.cursor)).filter((line) => line.seq > this.cursor);
    const last = lines.at(-1);
    if (last !== undefined) this.cursor = last.seq;
    else if (!this.atHead)
      throw new Error(`the log of ${this.hub.conversationId} does not show what follows ${this.cursor}`);
    return lines;
  }
}
