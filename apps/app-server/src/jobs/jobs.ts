import type { QueueName } from '@slipway/contracts';
import type { Queue } from '@slipway/queue';
import type { Logger } from '@slipway/telemetry';

/** Puts jobs into the queue after the transaction that wanted them. The outbox row is what counts: a queue that is away costs time, never the job. */
export class Jobs {
  constructor(
    private readonly queue: Queue,
    private readonly logger: Logger,
  ) {}

  /** Returns at once; a failure is logged and left to the worker's sweep. */
  enqueue(name: QueueName, orgId: string, conversationId: string): void {
    this.queue.add(name, { orgId, conversationId }, { key: conversationId }).catch((error: unknown) => {
      this.logger.warn({ err: error, queue: name, conversation_id: conversationId }, 'a job was not queued; the outbox brings it later');
    });
  }
}
