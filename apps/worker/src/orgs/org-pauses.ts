import type { QueuePayload } from '@slipway/contracts/operate';
import type { SqlPool } from '@slipway/db/sql';
import type { Queue } from '@slipway/queue';
import type { Logger } from '@slipway/telemetry';
import { deleteOutboxJob, deletionOf, pauseRunning, readOutboxJob } from './orgs.queries.js';

/** Conversations paused in one transaction. */
const BATCH = 100;
/**
 * After this no request runs on the old rights: a server may cache a session for a second, and an admitted request may
 * take a moment. So the sweep runs once more then. Milliseconds.
 */
const SETTLED_MS = 3_000;

/** Whose conversations pause, and the outbox job that wants it. */
interface PausedFor<Q extends 'member-removed' | 'org-closing'> {
  readonly key: string;
  readonly payload: QueuePayload<Q>;
  /** `null`: those of everybody. */
  readonly createdBy: string | null;
}

/** Pauses conversations of a user who may not run them any more, as a user's pause would, with everything saved. */
export class OrgPauses {
  constructor(
    private readonly pool: SqlPool,
    private readonly queue: Queue,
    private readonly logger: Logger,
  ) {}

  async ofMember({ orgId, userId }: QueuePayload<'member-removed'>, signal: AbortSignal): Promise<void> {
    await this.pause(
      'member-removed',
      { key: `${orgId}.${userId}`, payload: { orgId, userId }, createdBy: userId },
      signal,
    );
  }

  /** One that was restored meanwhile is left alone. */
  async ofOrg({ orgId }: QueuePayload<'org-closing'>, signal: AbortSignal): Promise<void> {
    if ((await deletionOf(this.pool, orgId)) === null) {
      const job = await readOutboxJob(this.pool, orgId, 'org-closing', orgId);
      if (job !== null) await deleteOutboxJob(this.pool, orgId, job.id);
      return;
    }
    await this.pause('org-closing', { key: orgId, payload: { orgId }, createdBy: null }, signal);
  }

  private async pause<Q extends 'member-removed' | 'org-closing'>(
    name: Q,
    { key, payload, createdBy }: PausedFor<Q>,
    signal: AbortSignal,
  ): Promise<void> {
    const { orgId } = payload;
    const job = await readOutboxJob(this.pool, orgId, name, key);
    let paused = 0;
    for (
      let ids = await pauseRunning(this.pool, orgId, createdBy, BATCH);
      ids.length > 0;
      ids = await pauseRunning(this.pool, orgId, createdBy, BATCH)
    ) {
      signal.throwIfAborted();
      for (const id of ids) await this.queue.add('conversation-pause', { orgId, conversationId: id }, { key: id });
      paused += ids.length;
    }
    this.logger.info({ org_id: orgId, user_id: createdBy, paused }, 'running conversations queued for pause');
    if (job === null) return;
    if (job.ageMs >= SETTLED_MS) return deleteOutboxJob(this.pool, orgId, job.id);
    await this.queue.add(name, payload, { key, delayMs: Math.ceil(SETTLED_MS - job.ageMs) });
  }
}
