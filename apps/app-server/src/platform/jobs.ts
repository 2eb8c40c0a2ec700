import type { ConversationQueue, QueueName, QueuePayload } from '@slipway/contracts/operate';
import type { Queue } from '@slipway/queue';
import type { Logger } from '@slipway/telemetry';

/**
 * Puts jobs into the queue after the transaction that wanted them. The outbox row is what counts: a queue that is away
 * costs time, never the job.
 */
export class Jobs {
  constructor(
    private readonly queue: Queue,
    private readonly logger: Logger,
  ) {}

  /** Returns at once; a failure is logged and left to the worker's sweep. */
  enqueue(name: ConversationQueue, orgId: string, conversationId: string): void {
    this.enqueueAs(name, conversationId, { orgId, conversationId });
  }

  /** The same for a job that is about something else than a conversation, under the key of its outbox row. */
  enqueueAs<Q extends QueueName>(name: Q, key: string, payload: QueuePayload<Q>): void {
    this.queue.add(name, payload, { key }).catch((error: unknown) => {
      this.logger.warn({ err: error, queue: name, key }, 'job not queued, its outbox job is queued later');
    });
  }
}
