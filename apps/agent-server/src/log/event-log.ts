import { constants, writeSync } from 'node:fs';
import { type FileHandle, mkdir, open, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import type { ConversationEvent } from '@slipway/contracts/events';
import { SlipwayError } from '@slipway/errors';
import { openhandsEvent } from '../openhands/openhands-event.js';
import { textFrame } from './frame.js';

/**
 * One event of the log, with its JSON once: as the line of the file, the body of a batch and, unless something of ours
 * is in it, the frame of the sockets.
 */
export interface LogEntry {
  readonly event: ConversationEvent;
  readonly frame: Buffer;
  /** As OpenHands' clients take it; mostly the same as `frame`. */
  readonly shown: Buffer;
  /** Where the JSON begins in `frame`. */
  readonly offset: number;
}

export function jsonOf(entry: LogEntry): Buffer {
  return entry.frame.subarray(entry.offset);
}

export function entryOf(event: ConversationEvent): LogEntry {
  const { frame, headerLength } = textFrame(Buffer.from(JSON.stringify(event)));
  const shown = openhandsEvent(event);
  return {
    event,
    frame,
    shown: shown === event ? frame : textFrame(Buffer.from(JSON.stringify(shown))).frame,
    offset: headerLength,
  };
}

interface Waiting {
  readonly entries: readonly LogEntry[];
  /** Keep in memory what the disk does not take. */
  readonly last: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const NEWLINE = Buffer.from('\n');
/**
 * Each write returns when the disk has it, as with `fdatasync` after it, but with one trip to the thread pool instead
 * of two; and begins at the end, also after a truncation.
 */
const APPEND_SYNCED = constants.O_CREAT | constants.O_RDWR | constants.O_APPEND | constants.O_DSYNC;

/** Longest line that the loop's own thread writes. Bytes. */
const SMALL = 64 * 1024;
/** A disk that took a write within this time is quick. Milliseconds; with the trips to the thread pool and back. */
const QUICK_MS = 1.5;
/** So many writes go through the thread pool after one that was not quick. */
const WARY = 100;
/** A log that had nothing to write for this long is idle: no writer shares the next write. Milliseconds. */
const REST_MS = 5;

/**
 * The log of one conversation: a file with one JSON line an event, and the same in memory.
 *
 * - An event is in `events`, and known to listeners, only after the disk holds it; calls that come together share one
 * write.
 * - An id is in the log once: appending it again resolves and changes nothing.
 * - An idle log on a quick disk writes a short line from the loop's own thread: the way through the thread pool and
 * back takes longer than the disk. One slow write, and the next hundred go through the pool, so that a disk that stalls
 * holds up nothing else.
 * - A full disk rejects with `sandbox.disk-full` and leaves the file as it was; `appendLast` then keeps the events in
 * memory and writes them with the next append.
 */
export class EventLog {
  readonly events: ConversationEvent[] = [];
  readonly entries: LogEntry[] = [];
  private readonly ids = new Set<string>();
  private readonly listeners = new Set<(from: number) => void>();
  private waiting: Waiting[] = [];
  private flushing: Promise<void> | undefined;
  /** Committed, but not in the file: the disk was full. */
  private unwritten: LogEntry[] = [];
  /** Length of the file up to its last whole, committed line. Bytes. */
  private size = 0;
  private fence: SlipwayError | undefined;
  /** Writes until the disk is taken for a quick one. */
  private wary = 1;
  private wroteAt = 0;

  private constructor(
    private readonly file: string,
    private handle: FileHandle,
  ) {}

  /** Reads what is there; a torn last line is cut off. @throws SlipwayError `sandbox.disk-full`. */
  static async open(directory: string): Promise<EventLog> {
    const file = path.join(directory, 'events.jsonl');
    try {
      await mkdir(directory, { recursive: true });
      const { events, bytes } = await readEvents(file);
      const log = new EventLog(file, await open(file, APPEND_SYNCED, 0o600));
      await log.handle.truncate(bytes);
      log.size = bytes;
      log.adopt(events.map(entryOf));
      return log;
    } catch (error) {
      throw diskError(error);
    }
  }

  has(id: string): boolean {
    return this.ids.has(id);
  }

  indexOf(id: string): number {
    return this.ids.has(id) ? this.events.findIndex((event) => event.id === id) : -1;
  }

  /** `listener` gets the position of the first new event, after each commit. It must not throw. */
  subscribe(listener: (from: number) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  append(events: readonly ConversationEvent[]): Promise<void> {
    return this.enqueue(events, false);
  }

  appendLast(events: readonly ConversationEvent[]): Promise<void> {
    return this.enqueue(events, true);
  }

  /** From here on every append rejects with `reason`: another sandbox owns the conversation. */
  close(reason: SlipwayError): void {
    this.fence ??= reason;
  }

  /**
   * Replaces the local log with the platform's, atomically: `history`, then the old lines missing in it. @returns how
   * many lines are the history's.
   */
  async rebase(history: readonly ConversationEvent[]): Promise<number> {
    await this.settled();
    const known = new Set(history.map((event) => event.id));
    const unsent = this.entries.filter((entry) => !known.has(entry.event.id));
    const entries = [...history.map(entryOf), ...unsent];
    const draft = `${this.file}.draft`;
    const handle = await open(draft, APPEND_SYNCED | constants.O_TRUNC, 0o600);
    try {
      await handle.writeFile(linesOf(entries));
      await rename(draft, this.file);
    } catch (error) {
      await handle.close();
      throw diskError(error);
    }
    await this.handle.close();
    this.handle = handle;
    this.size = (await handle.stat()).size;
    this.unwritten = [];
    this.events.length = 0;
    this.entries.length = 0;
    this.ids.clear();
    this.adopt(entries);
    return history.length;
  }

  /** Resolves when nothing is being written. */
  async settled(): Promise<void> {
    while (this.flushing !== undefined) await this.flushing;
  }

  async dispose(): Promise<void> {
    await this.settled();
    await this.handle.close();
  }

  private enqueue(events: readonly ConversationEvent[], last: boolean): Promise<void> {
    if (this.fence !== undefined) return Promise.reject(this.fence);
    const entries = events.map(entryOf);
    return new Promise((resolve, reject) => {
      this.waiting.push({ entries, last, resolve, reject });
      this.flushing ??= this.flush();
    });
  }

  private async flush(): Promise<void> {
    try {
      while (this.waiting.length > 0) {
        const batch = this.waiting;
        this.waiting = [];
        await this.commit(batch);
      }
    } finally {
      this.flushing = undefined;
    }
  }

  private async commit(batch: readonly Waiting[]): Promise<void> {
    const fresh = this.freshOf(batch);
    let failure: unknown;
    try {
      await this.write([...this.unwritten, ...fresh]);
      this.unwritten = [];
    } catch (error) {
      failure = error;
    }
    const kept = failure === undefined ? fresh : this.freshOf(batch.filter((call) => call.last));
    if (failure !== undefined) this.unwritten.push(...kept);
    const from = this.events.length;
    this.adopt(kept);
    if (kept.length > 0) for (const listener of this.listeners) listener(from);
    for (const call of batch) {
      if (failure === undefined || call.last) call.resolve();
      else call.reject(failure);
    }
  }

  /** The batch's entries without those that are in the log, or twice in the batch. */
  private freshOf(batch: readonly Waiting[]): LogEntry[] {
    const seen = new Set<string>();
    return batch.flatMap(({ entries }) =>
      entries.filter(({ event }) => {
        if (this.ids.has(event.id) || seen.has(event.id)) return false;
        seen.add(event.id);
        return true;
      }),
    );
  }

  private async write(entries: readonly LogEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const lines = linesOf(entries);
    try {
      const began = performance.now();
      const atOnce = this.wary === 0 && lines.length <= SMALL && began - this.wroteAt > REST_MS;
      for (let written = 0; written < lines.length; )
        written += atOnce
          ? writeSync(this.handle.fd, lines, written)
          : (await this.handle.write(lines, written)).bytesWritten;
      this.size += lines.length;
      this.wroteAt = performance.now();
      this.wary = this.wroteAt - began > QUICK_MS ? WARY : Math.max(0, this.wary - 1);
    } catch (error) {
      this.wary = WARY;
      // Half a line may be in the file; the next append must not follow it.
      await this.handle.truncate(this.size).catch(() => {});
      throw diskError(error);
    }
  }

  private adopt(entries: readonly LogEntry[]): void {
    for (const entry of entries) {
      this.entries.push(entry);
      this.events.push(entry.event);
      this.ids.add(entry.event.id);
    }
  }
}

function linesOf(entries: readonly LogEntry[]): Buffer {
  return Buffer.concat(entries.flatMap((entry) => [jsonOf(entry), NEWLINE]));
}

function diskError(error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG'
    ? new SlipwayError(
        'sandbox.disk-full',
        'The disk of the sandbox is full. Delete files in the workspace, then send a message to go on.',
        { cause: error },
      )
    : error;
}

/**
 * The whole lines of the file, and how many bytes they take. A line that is not JSON ends the log there: what follows
 * it was never acknowledged.
 */
async function readEvents(file: string): Promise<{ events: ConversationEvent[]; bytes: number }> {
  let content: Buffer;
  try {
    content = await readFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { events: [], bytes: 0 };
    throw error;
  }
  const events: ConversationEvent[] = [];
  let bytes = 0;
  for (let end = content.indexOf(10, bytes); end !== -1; end = content.indexOf(10, bytes)) {
    try {
      events.push(JSON.parse(content.toString('utf8', bytes, end)) as ConversationEvent);
    } catch {
      break;
    }
    bytes = end + 1;
  }
  return { events, bytes };
}
