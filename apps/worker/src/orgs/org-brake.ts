import type { QueuePayload } from '@slipway/contracts';
import type { SqlPool } from '@slipway/db/sql';
import type { Queue } from '@slipway/queue';
import type { Logger } from '@slipway/telemetry';
import { deleteOutboxJob, enqueueDeliveries, readOutboxJob } from './orgs.queries.js';

/** Conversations whose telling is wanted in one transaction. */
const BATCH = 100;

/** A change of when the agents of an organization ask, on its way to those that run: each is told by the job of its own conversation, under its lock. */
export class OrgBrake {
  constructor(
    private readonly pool: SqlPool,
    private readonly queue: Queue,
    private readonly logger: Logger,
  ) {}

  /** Those that start meanwhile are told before their start is over, those at rest at their next one. Repeatable from any point. */
  async enqueueAll({ orgId }: QueuePayload<'org-brake'>, signal: AbortSignal): Promise<void> {
    const job = await readOutboxJob(this.pool, orgId, 'org-brake', orgId);
    let wanted = 0;
    let after: string | null = null;
    do {
      signal.throwIfAborted();
      const ids = await enqueueDeliveries(this.pool, orgId, after, BATCH);
      for (const id of ids) await this.queue.add('conversation-deliver', { orgId, conversationId: id }, { key: id });
      wanted += ids.length;
      after = ids.length < BATCH ? null : (ids.at(-1) ?? null);
    } while (after !== null);
    this.logger.info({ org_id: orgId, wanted }, 'confirmation policy queued for running agents');
    // A change that was made since keeps its own outbox job.
    if (job !== null) await deleteOutboxJob(this.pool, orgId, job.id);
  }
}
