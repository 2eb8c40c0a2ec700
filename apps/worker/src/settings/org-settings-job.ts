import type { QueuePayload } from '@slipway/contracts/operate';
import type { SqlPool } from '@slipway/db/sql';
import type { Queue } from '@slipway/queue';
import type { Logger } from '@slipway/telemetry';
import { deleteOutboxJob, readOutboxJob } from '../orgs/orgs.queries.js';
import { enqueueDeliveries } from './settings.queries.js';

/** Conversations that get their job in one transaction. */
const BATCH = 100;

/**
 * Brings a change of the organization's confirmation policy to its agents that run: each by the job of its own
 * conversation, under its lock.
 */
export class OrgSettingsJob {
  constructor(
    private readonly pool: SqlPool,
    private readonly queue: Queue,
    private readonly logger: Logger,
  ) {}

  /**
   * Agents that start meanwhile get the policy before their start is over, idle ones at their next start. Repeatable
   * from any point.
   */
  async enqueueAll(
    queue: 'org-settings' | 'org-brake',
    { orgId }: QueuePayload<'org-settings'>,
    signal: AbortSignal,
  ): Promise<void> {
    const job = await readOutboxJob(this.pool, orgId, queue, orgId);
    let conversations = 0;
    let after: string | null = null;
    do {
      signal.throwIfAborted();
      const ids = await enqueueDeliveries(this.pool, orgId, after, BATCH);
      for (const id of ids) await this.queue.add('conversation-deliver', { orgId, conversationId: id }, { key: id });
      conversations += ids.length;
      after = ids.length < BATCH ? null : (ids.at(-1) ?? null);
    } while (after !== null);
    this.logger.info({ org_id: orgId, conversations }, 'confirmation policy queued for running agents');
    // A change that was made since keeps its own outbox job.
    if (job !== null) await deleteOutboxJob(this.pool, orgId, job.id);
  }
}
