import { randomUUID } from 'node:crypto';
import { QUEUES, type QueueName, type QueuePayload } from '@slipway/contracts/operate';
import { parseOrThrow, SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { Queue as BullMqQueue, type Job, Worker } from 'bullmq';
import {
  ADD_TIMEOUT_MS,
  BACKOFF_BASE_MS,
  BACKOFF_CAP_MS,
  type JobHandler,
  LOCK_MS,
  MAX_ATTEMPTS,
  type Queue,
  STALLED_INTERVAL_MS,
} from './queue.js';

/** What differs between BullMQ's two backends. */
export interface BullBackend {
  readonly name: 'redis' | 'postgres';
  openQueue(name: string): BullMqQueue;
  openWorker(
    name: string,
    processor: (job: Job, token: string | undefined, signal: AbortSignal | undefined) => Promise<void>,
    options: WorkerSettings,
  ): Worker;
  /** False when the connection is known to be down: `add` then fails at once instead of piling up. */
  connected(): boolean;
  ping(): Promise<void>;
  close(): Promise<void>;
}

type WorkerSettings = ReturnType<typeof workerSettings>;

/** Running handlers get this long to end by themselves at close. Milliseconds. */
const CLOSE_GRACE_MS = 5_000;
/** And this long after their signal was aborted. Milliseconds. */
const ABORT_GRACE_MS = 2_000;
/** At most one line about a failing connection in this time. Milliseconds. */
const FAILURE_LINE_MS = 10_000;
/** Wait before a worker that could not connect tries again. Milliseconds. */
const RECONNECT_MS = 1_000;

/**
 * The queue over BullMQ, on either backend. Uniqueness is BullMQ's deduplication with `keepLastIfActive`: the id is
 * held from `add` to the end of the job, and an `add` meanwhile is kept as the one job that follows.
 */
export class BullQueue implements Queue {
  private readonly queues = new Map<QueueName, BullMqQueue>();
  private readonly workers = new Map<QueueName, Worker>();
  private readonly running = new Set<AbortController>();
  private closing: Promise<void> | null = null;
  private lastFailureReported = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly backend: BullBackend,
    private readonly logger: Logger,
  ) {}

  async add<Q extends QueueName>(
    name: Q,
    payload: QueuePayload<Q>,
    options: { key: string; delayMs?: number },
  ): Promise<void> {
    const data = parseOrThrow(QUEUES[name], payload, 'internal.unexpected');
    if (this.closing !== null || !this.backend.connected())
      throw new SlipwayError('service.unavailable', 'The job queue does not answer.', {
        internal: `${this.backend.name} is away`,
      });
    const delay = options.delayMs ?? 0;
    await withTimeout(
      this.queueOf(name).add(name, data, {
        delay,
        jobId: randomUUID(),
        attempts: MAX_ATTEMPTS,
        backoff: { type: 'capped' },
        removeOnComplete: true,
        removeOnFail: true,
        // A job that waits for its next attempt, or for its delay, runs now when it is requested now.
        deduplication: { id: options.key, keepLastIfActive: true, reschedule: delay === 0 },
      }),
      `${this.backend.name} did not take the job`,
    );
  }

  handle<Q extends QueueName>(name: Q, handler: JobHandler<Q>, options: { concurrency: number }): void {
    if (this.workers.has(name)) throw new Error(`${name} has a handler already`);
    const work = async (job: Job, _token: string | undefined, signal: AbortSignal | undefined): Promise<void> => {
      const abort = new AbortController();
      this.running.add(abort);
      try {
        const payload = parseOrThrow(QUEUES[name], job.data, 'internal.unexpected') as QueuePayload<Q>;
        await handler(payload, signal === undefined ? abort.signal : AbortSignal.any([signal, abort.signal]));
      } finally {
        this.running.delete(abort);
      }
    };
    this.startWorker(name, work, options.concurrency);
  }

  ping(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    return withTimeout(this.backend.ping(), `${this.backend.name} does not answer`);
  }

  close(): Promise<void> {
    this.closing ??= this.closeAll();
    return this.closing;
  }

  private startWorker(
    name: QueueName,
    work: (job: Job, token: string | undefined, signal: AbortSignal | undefined) => Promise<void>,
    concurrency: number,
  ): void {
    const worker = this.backend.openWorker(name, work, workerSettings(concurrency));
    this.workers.set(name, worker);
    worker.on('error', (error) => this.connectionFailed(name, error));
    worker.on('failed', (job, error) => {
      const attempts = job?.attemptsMade ?? 0;
      const line = { err: error, queue: name, job: job?.id, attempts, payload: job?.data as unknown };
      if (attempts >= MAX_ATTEMPTS) this.logger.error(line, 'job failed for the last time, dropped');
      else this.logger.warn(line, 'job failed, will retry');
    });
    worker.on('stalled', (job) => this.logger.warn({ queue: name, job }, 'job of a dead worker started again'));
    // Another worker may have the job by now: ours ends.
    worker.on('lockRenewalFailed', (jobs) => {
      for (const job of jobs) worker.cancelJob(job, 'the lock was lost');
    });
    // BullMQ remembers a failed first connection for ever; only a new worker connects again.
    worker.waitUntilReady().catch((error: unknown) => {
      if (this.closing !== null) return;
      this.logger.warn({ err: error, queue: name }, 'queue worker not connected, will retry');
      setTimeout(() => {
        if (this.closing !== null || this.workers.get(name) !== worker) return;
        worker.close(true).catch(() => {});
        this.startWorker(name, work, concurrency);
      }, RECONNECT_MS);
    });
  }

  /** The backend reports each of many tries; a line in ten seconds says enough. */
  private connectionFailed(name: QueueName, error: Error): void {
    const now = performance.now();
    if (now - this.lastFailureReported < FAILURE_LINE_MS) return;
    this.lastFailureReported = now;
    this.logger.warn({ reason: error.message, queue: name }, 'job queue connection failed, will reconnect');
  }

  private queueOf(name: QueueName): BullMqQueue {
    const known = this.queues.get(name);
    if (known !== undefined) return known;
    const queue = this.backend.openQueue(name);
    queue.on('error', (error) => this.connectionFailed(name, error));
    queue.waitUntilReady().catch(() => {
      if (this.queues.get(name) === queue) this.queues.delete(name);
    });
    this.queues.set(name, queue);
    return queue;
  }

  private async closeAll(): Promise<void> {
    const ended = Promise.all([...this.workers.values()].map((worker) => worker.close()));
    if (!(await endsWithin(ended, CLOSE_GRACE_MS))) {
      for (const abort of this.running) abort.abort(new Error('the process is ending'));
      if (!(await endsWithin(ended, ABORT_GRACE_MS)))
        await endsWithin(Promise.all([...this.workers.values()].map((worker) => worker.close(true))), ABORT_GRACE_MS);
    }
    await endsWithin(Promise.all([...this.queues.values()].map((queue) => queue.close())), ABORT_GRACE_MS);
    await this.backend.close();
  }
}

function workerSettings(concurrency: number) {
  return {
    concurrency,
    lockDuration: LOCK_MS,
    stalledInterval: STALLED_INTERVAL_MS,
    // Handlers bear running again, so no count of dead workers makes a job fail.
    maxStalledCount: 1_000_000,
    runRetryDelay: RECONNECT_MS,
    /** Longest that a lost wake-up costs. Seconds. */
    drainDelay: 1,
    settings: {
      backoffStrategy: (attempts: number) =>
        Math.min(BACKOFF_BASE_MS * 2 ** Math.min(attempts - 1, 16), BACKOFF_CAP_MS),
    },
  };
}

async function withTimeout<T>(work: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () =>
        reject(
          new SlipwayError('service.unavailable', 'The job queue does not answer.', {
            internal: `${what} within ${ADD_TIMEOUT_MS} ms`,
          }),
        ),
      ADD_TIMEOUT_MS,
    );
  });
  // The work may still fail after the timeout; that failure has been reported already.
  work.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } catch (error) {
    throw error instanceof SlipwayError
      ? error
      : new SlipwayError('service.unavailable', 'The job queue does not answer.', { internal: what, cause: error });
  } finally {
    clearTimeout(timer);
  }
}

async function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const ended = work.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([ended, late]);
  } finally {
    clearTimeout(timer);
  }
}
