import type { StreamingDelta } from '@slipway/contracts/events';
import type { LogLine } from './log-line.js';
import type { PartialText } from './partial-text.js';
import { Partials } from './partials.js';

/** Recent lines that are kept for readers a little behind; older ones are in the database. */
const RING_LINES = 512;
/** UTF-16 code units of those lines. */
const RING_LENGTH = 1024 * 1024;
/** Lines of one read of the log. */
const PAGE_LINES = 500;
/**
 * Lines that arrive within this time of the last ones go out together. Milliseconds; small beside the 5 ms that an
 * event may take.
 */
const GATHER_MS = 3;

export interface HubListener {
  /** Consecutive lines, beginning at the hub's head + 1; the head has moved when this is called. */
  lines(lines: readonly LogLine[]): void;
  delta?(delta: StreamingDelta): void;
  /** Messages that wait may have changed. */
  inbox?(): void;
  /** Threads of its review may have changed. */
  review?(): void;
  /** The conversation has been deleted; nothing comes after this. */
  gone?(): void;
}

export interface HubSource {
  /** Lines after a position, at most `limit`, ascending. */
  read(after: number, limit: number): Promise<LogLine[]>;
  /**
   * Lines have gone out to listeners. @param seconds since the oldest of them was committed, as far as it is known
   * here.
   */
  delivered?(seconds: number): void;
  /** A read failed; it is tried again at the next hint or head check. */
  failed(error: unknown): void;
}

/**
 * The live end of one conversation's log in this process, while it has readers.
 *
 * Only committed lines come in (`offer`, or read from the log), and they go out in `seq` order without a hole: `head`
 * is the last one that went out. A hole in what is offered, or `behind(head)`, makes it read the log from its own end,
 * one read at a time however often it is asked.
 */
export class ConversationHub {
  private readonly ring: LogLine[] = [];
  private ringLength = 0;
  /** Accepted, in order after `head`, and not yet sent. */
  private gathered: LogLine[] = [];
  private gatherTimer: NodeJS.Timeout | undefined;
  private lastSent = 0;
  private readonly listeners = new Set<HubListener>();
  private reading: Promise<void> | undefined;
  private wanted = 0;
  /** When the oldest line that has not gone out was committed, by this process's clock that only goes forward. */
  private committedAt = Number.POSITIVE_INFINITY;
  private readonly pages = new Map<number, Promise<LogLine[]>>();
  private deleted = false;

  constructor(
    readonly orgId: string,
    readonly conversationId: string,
    /** Last `seq` that listeners have been given, or could read from the log when they came. */
    public head: number,
    private readonly source: HubSource,
    /** What is being written in this conversation and others, under `key`. */
    private readonly partials: Partials = new Partials(),
    private readonly key = conversationId,
  ) {
    this.wanted = head;
  }

  get partial(): PartialText {
    return this.partials.of(this.key);
  }

  listen(listener: HubListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Committed lines, consecutive and ascending. Those that are known are passed over. */
  offer(lines: readonly LogLine[], committedAt = performance.now()): void {
    const last = lines.at(-1);
    if (last === undefined) return;
    const end = this.end();
    if (last.seq <= end) return;
    const first = lines[0] as LogLine;
    if (first.seq > end + 1) {
      void this.behind(last.seq, committedAt);
      return;
    }
    for (let index = end + 1 - first.seq; index < lines.length; index += 1) this.gathered.push(lines[index] as LogLine);
    this.committedAt = Math.min(this.committedAt, committedAt);
    this.schedule();
  }

  /**
   * Reports that the log has grown to `head`, and when: reads up to it. Resolves when the reading that was needed has
   * ended, well or not.
   */
  async behind(head: number, committedAt = performance.now()): Promise<void> {
    this.wanted = Math.max(this.wanted, head);
    if (this.end() >= this.wanted) return;
    this.committedAt = Math.min(this.committedAt, committedAt);
    this.reading ??= this.readOn();
    await this.reading;
  }

  /** Lines after `after` that are at hand, ascending; `null` when they are older than what is kept. */
  recent(after: number): readonly LogLine[] | null {
    if (after >= this.head) return [];
    const oldest = this.ring[0];
    if (oldest === undefined || after + 1 < oldest.seq) return null;
    return this.ring.slice(after + 1 - oldest.seq);
  }

  /**
   * Lines after `after`, from memory or else the log; readers at the same place share one read. Empty when there are
   * none.
   */
  async page(after: number): Promise<readonly LogLine[]> {
    const recent = this.recent(after);
    if (recent !== null) return recent;
    const running = this.pages.get(after);
    if (running !== undefined) return running;
    const page = this.source.read(after, PAGE_LINES).finally(() => this.pages.delete(after));
    this.pages.set(after, page);
    const lines = await page;
    // A read may see what has been committed and not yet been offered here: it goes out now, so that `head` covers what
    // this reader has.
    const last = lines.at(-1);
    if (last !== undefined && last.seq > this.head) {
      this.offer(lines);
      this.flush();
    }
    return lines;
  }

  delta(delta: StreamingDelta): void {
    if (this.partials.change(this.key, (partial) => partial.add(delta), true))
      for (const listener of this.listeners) listener.delta?.(delta);
  }

  inboxChanged(): void {
    for (const listener of this.listeners) listener.inbox?.();
  }

  reviewChanged(): void {
    for (const listener of this.listeners) listener.review?.();
  }

  /** Whether the conversation was deleted while it had readers here. */
  get isGone(): boolean {
    return this.deleted;
  }

  gone(): void {
    this.deleted = true;
    for (const listener of [...this.listeners]) listener.gone?.();
    this.close();
  }

  close(): void {
    clearTimeout(this.gatherTimer);
    this.listeners.clear();
  }

  private end(): number {
    return this.gathered.at(-1)?.seq ?? this.head;
  }

  private schedule(): void {
    if (this.gatherTimer !== undefined) return;
    const wait = this.lastSent + GATHER_MS - performance.now();
    if (wait <= 0) this.flush();
    else this.gatherTimer = setTimeout(() => this.flush(), wait);
  }

  private flush(): void {
    clearTimeout(this.gatherTimer);
    this.gatherTimer = undefined;
    const lines = this.gathered;
    const last = lines.at(-1);
    if (last === undefined) return;
    this.gathered = [];
    this.lastSent = performance.now();
    this.head = last.seq;
    this.wanted = Math.max(this.wanted, last.seq);
    for (const line of lines) {
      this.ring.push(line);
      this.ringLength += line.json.length;
    }
    while (this.ring.length > RING_LINES || (this.ringLength > RING_LENGTH && this.ring.length > 1))
      this.ringLength -= (this.ring.shift() as LogLine).json.length;
    this.partials.change(this.key, (partial) => partial.endedBy(lines), true);
    for (const listener of this.listeners) listener.lines(lines);
    if (this.listeners.size > 0) this.source.delivered?.(Math.max(0, performance.now() - this.committedAt) / 1000);
    this.committedAt = Number.POSITIVE_INFINITY;
    if (lines.some((line) => line.json.includes('"kind":"MessageEvent"'))) this.inboxChanged();
  }

  private async readOn(): Promise<void> {
    try {
      while (this.end() < this.wanted) {
        const lines = await this.source.read(this.end(), PAGE_LINES);
        if (lines.length === 0) {
          if (this.gathered.length === 0) this.committedAt = Number.POSITIVE_INFINITY;
          break;
        }
        this.offer(lines);
        this.flush();
      }
    } catch (error) {
      this.source.failed(error);
    } finally {
      // What could not be read now is asked for again by the next hint or head check.
      this.wanted = this.end();
      this.reading = undefined;
    }
  }
}
