import { HEARTBEAT_MS, LEASE_MS, MAX_INGEST_EVENTS } from '@slipway/contracts/events';
import { type EventLog, entryOf, jsonOf, type LogEntry } from '../log/event-log.js';
import type { IngestClient, SendResult } from './ingest-client.js';

/** Largest batch, unless a single event is larger. Bytes; half of what the app takes. */
const MAX_BATCH_BYTES = 4 * 1024 * 1024;
/** With this much unacknowledged the agent waits. */
export const MAX_UNACKED_EVENTS = 2_000;
const MAX_UNACKED_BYTES = 16 * 1024 * 1024;
/** Between two attempts, doubling. Milliseconds; the longest is well under the lease. */
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 2_000;
/**
 * Longest that the app's own word for when to come back is kept to. Milliseconds: half of the lease, which only what is
 * sent renews.
 */
const LONGEST_ASKED_MS = LEASE_MS / 2;

export interface OutboxOptions {
  readonly log: EventLog;
  /** Position in the log of the first event that the app does not have. */
  readonly firstIndex: number;
  /** Events of this epoch that the app had before: the next one has the `producerSeq` after it. */
  readonly ackedBefore: number;
  readonly epoch: number;
  readonly client: IngestClient;
  readonly traceparent: () => string;
  readonly random: () => number;
  readonly warn: (fields: Record<string, unknown>, message: string) => void;
  /** Another sandbox owns the conversation: called once; nothing is sent after it. */
  readonly onFenced: () => void;
  readonly onAcked: (acked: number) => void;
  readonly heartbeatMs?: number;
}

/**
 * Sends the log to the app: each event once and in order, under any failure of the way.
 *
 * One batch is under way at a time; everything that accumulated meanwhile goes with the next. Nothing is ever dropped:
 * what is not acknowledged is sent again, for the lifetime of the process, and the next process continues from the
 * file. An idle outbox renews the lease with empty batches.
 */
export class Outbox {
  /** Of the events from `firstIndex` on. */
  private acked = 0;
  private unackedBytes: number;
  private maxEvents = MAX_INGEST_EVENTS;
  private fenced = false;
  private readonly stop = new AbortController();
  private readonly done: Promise<void>;
  private wake: () => void = () => {};
  private readonly roomWaiters = new Set<() => void>();
  private readonly idleWaiters = new Set<() => void>();
  private readonly unsubscribe: () => void;

  constructor(private readonly options: OutboxOptions) {
    this.unackedBytes = bytesOf(options.log.entries.slice(options.firstIndex));
    this.unsubscribe = options.log.subscribe((from) => {
      this.unackedBytes += bytesOf(options.log.entries.slice(from));
      this.wake();
    });
    this.done = this.pump();
  }

  get state(): { epoch: number; acked: number; pending: number; fenced: boolean } {
    return {
      epoch: this.options.epoch,
      acked: this.options.ackedBefore + this.acked,
      pending: this.pending,
      fenced: this.fenced,
    };
  }

  /** Resolves when the agent may go on. Rejects with the signal's reason. */
  async room(signal: AbortSignal): Promise<void> {
    while (!this.fenced && (this.pending > MAX_UNACKED_EVENTS || this.unackedBytes > MAX_UNACKED_BYTES))
      await this.waiter(this.roomWaiters, signal);
    signal.throwIfAborted();
  }

  /** Resolves when everything is acknowledged, the outbox is fenced, or the signal is aborted. */
  async flushed(signal: AbortSignal): Promise<void> {
    while (!this.fenced && this.pending > 0 && !signal.aborted)
      await this.waiter(this.idleWaiters, signal).catch(() => undefined);
  }

  /** Sends no more. */
  async close(): Promise<void> {
    this.unsubscribe();
    this.stop.abort(new Error('the outbox was closed'));
    this.wake();
    await this.done;
  }

  private get pending(): number {
    return this.options.log.entries.length - this.options.firstIndex - this.acked;
  }

  private async pump(): Promise<void> {
    const { signal } = this.stop;
    let failures = 0;
    while (!signal.aborted && !this.fenced) {
      const batch = this.nextBatch();
      let result: SendResult;
      try {
        result = await this.options.client.send(this.body(batch), signal);
      } catch {
        return;
      }
      const before = this.acked;
      this.settle(result, batch);
      const stands =
        result.result === 'retry' ||
        ((result.result === 'acked' || result.result === 'gap') && batch.length > 0 && this.acked === before);
      failures = stands ? failures + 1 : 0;
      if (stands)
        await this.pause(
          Math.max(
            result.result === 'retry' ? Math.min(result.afterMs, LONGEST_ASKED_MS) : 0,
            backoffMs(failures, this.options.random),
          ),
          signal,
        );
      else if (this.pending === 0) await this.pause(this.options.heartbeatMs ?? HEARTBEAT_MS, signal, 'or news');
    }
  }

  private settle(result: SendResult, batch: readonly LogEntry[]): void {
    switch (result.result) {
      case 'acked':
      case 'gap':
        if (result.result === 'gap')
          this.options.warn({ acked: result.acked, expected: this.acked }, 'app-server requested events again');
        this.advance(result.acked - this.options.ackedBefore);
        this.maxEvents = Math.min(MAX_INGEST_EVENTS, this.maxEvents * 2);
        return;
      case 'fenced':
        this.fenced = true;
        this.options.warn({ detail: result.detail }, 'conversation belongs to another sandbox, nothing more is sent');
        this.options.onFenced();
        this.release();
        return;
      case 'too-large':
      case 'invalid':
        if (batch.length > 1) {
          // One of them is the reason: halve until it stands alone.
          this.maxEvents = Math.max(1, Math.floor(batch.length / 2));
          return;
        }
        this.options.warn({ result, id: batch[0]?.event.id }, 'event refused by app-server, replaced by a note');
        if (batch[0] !== undefined) this.replace(batch[0]);
        return;
      case 'retry':
        this.options.warn(
          { detail: result.detail, pending: this.pending },
          'batch not accepted by app-server, will retry',
        );
    }
  }

  /** What is sent instead of an event that cannot be stored, under the same id, so that the log goes on. */
  private replace(entry: LogEntry): void {
    const { id, timestamp, source, kind } = entry.event;
    const index = this.options.log.entries.indexOf(entry);
    if (index !== -1)
      this.options.log.entries[index] = entryOf({
        id,
        timestamp,
        source,
        kind: 'ConversationErrorEvent',
        code: 'request.invalid',
        detail: `An event of kind ${kind} could not be stored.`,
      });
  }

  private advance(acked: number): void {
    const { log, firstIndex } = this.options;
    if (acked < 0 || acked > log.entries.length - firstIndex) {
      this.options.warn(
        { acked, sent: log.entries.length - firstIndex },
        'app-server acknowledged events that were not sent',
      );
      return;
    }
    if (acked > this.acked)
      this.unackedBytes -= bytesOf(log.entries.slice(firstIndex + this.acked, firstIndex + acked));
    else this.unackedBytes += bytesOf(log.entries.slice(firstIndex + acked, firstIndex + this.acked));
    const moved = acked !== this.acked;
    this.acked = acked;
    if (moved) this.options.onAcked(this.options.ackedBefore + acked);
    this.release();
  }

  private release(): void {
    for (const waiters of [this.roomWaiters, this.idleWaiters]) {
      for (const waiter of waiters) waiter();
      waiters.clear();
    }
  }

  private nextBatch(): LogEntry[] {
    const { log, firstIndex } = this.options;
    const batch: LogEntry[] = [];
    let bytes = 0;
    for (let index = firstIndex + this.acked; index < log.entries.length && batch.length < this.maxEvents; index += 1) {
      const entry = log.entries[index] as LogEntry;
      bytes += entry.frame.length;
      if (batch.length > 0 && bytes > MAX_BATCH_BYTES) break;
      batch.push(entry);
    }
    return batch;
  }

  private body(batch: readonly LogEntry[]): Buffer {
    const parts: Buffer[] = [
      Buffer.from(`{"epoch":${this.options.epoch},"traceparent":"${this.options.traceparent()}","events":[`),
    ];
    for (const [index, entry] of batch.entries()) {
      parts.push(
        Buffer.from(
          `${index === 0 ? '' : ','}{"producerSeq":${this.options.ackedBefore + this.acked + index + 1},"event":`,
        ),
        jsonOf(entry),
        Buffer.from('}'),
      );
    }
    parts.push(Buffer.from(']}'));
    return Buffer.concat(parts);
  }

  /** Resolves after `ms`, when closed, and with `or news` at the next event. */
  private pause(ms: number, signal: AbortSignal, until: 'time' | 'or news' = 'time'): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        this.wake = () => {};
        resolve();
      };
      const timer = setTimeout(end, ms);
      signal.addEventListener('abort', end);
      if (until === 'or news') this.wake = end;
    });
  }

  private waiter(waiters: Set<() => void>, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        signal.removeEventListener('abort', abort);
        resolve();
      };
      const abort = (): void => {
        waiters.delete(end);
        reject(signal.reason);
      };
      if (signal.aborted) return abort();
      waiters.add(end);
      signal.addEventListener('abort', abort, { once: true });
    });
  }
}

function backoffMs(failures: number, random: () => number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1)) * (0.5 + random() / 2);
}

function bytesOf(entries: readonly LogEntry[]): number {
  let sum = 0;
  for (const entry of entries) sum += entry.frame.length;
  return sum;
}
