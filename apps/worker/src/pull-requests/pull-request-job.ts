import type { QueuePayload } from '@slipway/contracts/operate';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { findPullRequest, type PullRequestRow } from '@slipway/integrations/pull-requests';
import type { Queue } from '@slipway/queue';
import { type ConversationLocks, LockBusy } from '../conversations/conversation-locks.js';
import { LostConversation } from '../conversations/conversation-log.js';
import { deleteOutboxJob, readOutboxJob } from '../orgs/orgs.queries.js';
import type { PullRequestSync } from './pull-request-sync.js';
import { postponeJob } from './pull-requests.queries.js';

const QUEUE = 'pull-request';
/** When another job works on the same pull request, this one comes again. Milliseconds. */
const BUSY_MS = 1_000;

/**
 * Brings one pull request to its desired state. One job at a time works on one; every step may be repeated after a
 * crash.
 */
export class PullRequestJob {
  constructor(
    private readonly pool: SqlPool,
    private readonly queue: Queue,
    private readonly locks: ConversationLocks,
    private readonly sync: PullRequestSync,
  ) {}

  async run({ orgId, pullRequestId }: QueuePayload<typeof QUEUE>, signal: AbortSignal): Promise<void> {
    try {
      await this.locks.withLock(`pull-request:${pullRequestId}`, signal, (held) =>
        this.alone(orgId, pullRequestId, held),
      );
    } catch (error) {
      if (error instanceof LockBusy) return this.again({ id: pullRequestId, orgId }, BUSY_MS);
      if (!(error instanceof LostConversation)) throw error;
    }
  }

  private async alone(orgId: string, id: string, signal: AbortSignal): Promise<void> {
    const request = await readOutboxJob(this.pool, orgId, QUEUE, id);
    const row = await inOrg(this.pool, orgId, (client) => findPullRequest(client, orgId, id));
    const waitMs = row === null ? null : await this.sync.bring(row, { signal, again: (ms) => this.again(row, ms) });
    if (waitMs !== null) {
      await postponeJob(this.pool, orgId, id, waitMs);
      return this.again({ id, orgId }, waitMs);
    }
    // What was asked for meanwhile has another row.
    if (request !== null) await deleteOutboxJob(this.pool, orgId, request.id);
  }

  private again({ id, orgId }: Pick<PullRequestRow, 'id' | 'orgId'>, delayMs: number): Promise<void> {
    return this.queue.add(QUEUE, { orgId, pullRequestId: id }, { key: id, delayMs });
  }
}
