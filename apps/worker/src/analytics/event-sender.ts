import { deleteEvents, postponeEvents, takeAllowed, type WireEvent, wireEvent } from '@slipway/analytics';
import type { SendResult } from '@slipway/analytics/posthog';
import type { SqlPool } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';
import { system } from '../conversations/conversation.queries.js';
import type { ConversationLocks } from '../conversations/conversation-locks.js';
import { Lead } from '../sweeps/leads/lead.js';
import type { AnalyticsMetrics } from './analytics-metrics.js';

/** Between two rounds. Milliseconds. */
const ROUND_MS = 5_000;
/** Events of one request. */
const MAX_BATCH = 200;
/** Between two attempts, doubling, unless the receiver names a time. Milliseconds. */
const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 300_000;

export interface EventSenderOptions {
  readonly pool: SqlPool;
  readonly locks: Pick<ConversationLocks, 'tryLock'>;
  readonly logger: Logger;
  readonly metrics: AnalyticsMetrics;
  /** Makes pseudonyms of users and organizations. */
  readonly secret: string;
  /** Never rejects. */
  readonly send: (events: readonly WireEvent[]) => Promise<SendResult>;
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number;
}

/**
 * Sends what waits, the oldest first. Consents are asked with each batch, and a row is deleted once the receiver has
 * taken it: a worker that dies in between sends the same ids again. What is not taken stays and is sent again later;
 * only what a receiver cannot take in any batch goes behind the others.
 */
export class EventSender {
  private readonly lead: Lead;
  private batch = MAX_BATCH;
  private failures = 0;
  private notBefore = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: EventSenderOptions) {
    const { locks, logger } = options;
    this.lead = new Lead({
      name: 'analytics-sender',
      everyMs: ROUND_MS,
      locks,
      logger,
      round: (signal) => this.run(signal),
    });
  }

  start(): void {
    this.lead.start();
  }

  close(): Promise<void> {
    return this.lead.close();
  }

  /** One round: until nothing waits or the receiver does not take it. Rejects when the database does not answer. */
  async run(signal: AbortSignal): Promise<void> {
    const { pool, now } = this.options;
    while (now() >= this.notBefore) {
      signal.throwIfAborted();
      const events = await system(pool, 'analytics events to send', (client) => takeAllowed(client, this.batch));
      if (events.length === 0 || !(await this.deliver(events.map((each) => wireEvent(this.options.secret, each)))))
        return;
    }
  }

  /** @returns whether to go on at once. */
  private async deliver(events: readonly WireEvent[]): Promise<boolean> {
    const { pool, send, metrics, logger, now } = this.options;
    const ids = events.map(({ uuid }) => uuid);
    const result = await send(events);
    metrics.count(result, events.length);
    if (result.kind === 'sent') {
      await system(pool, 'analytics events were sent', (client) => deleteEvents(client, ids));
      this.batch = Math.min(MAX_BATCH, this.batch * 2);
      this.failures = 0;
      return true;
    }
    if (result.kind === 'split' && events.length > 1) {
      this.batch = Math.max(1, Math.floor(events.length / 2));
      return true;
    }
    if (result.kind === 'split')
      await system(pool, 'an analytics event is refused', (client) => postponeEvents(client, ids));
    const wait = result.afterMs ?? Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.failures);
    this.failures = Math.min(this.failures + 1, 10);
    this.notBefore = now() + wait;
    logger.warn(
      { events: events.length, reason: result.reason, retry_in_ms: wait },
      'analytics events refused, will retry',
    );
    return false;
  }
}
