import { ERRORS } from '@slipway/contracts/errors';
import { type QueuePayload } from '@slipway/contracts/operate';
import type { SqlPool } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { type ConversationRow, readConversation } from '../conversations/conversation.queries.js';
import { deleteOutboxJob, readOutboxJob } from '../orgs/orgs.queries.js';
import type { StartSteps } from '../start/start-steps.js';
import type { Snapshots } from './snapshot.js';

/** Takes a snapshot of a running workspace. Needs no lock: it reads, and the newest snapshot wins. */
export class SnapshotJob {
  constructor(
    private readonly pool: SqlPool,
    private readonly steps: StartSteps,
    private readonly snapshots: Snapshots,
    private readonly logger: Logger,
    /** What else is to be done when a run has ended; repeatable. */
    private readonly ended: (conversation: ConversationRow) => Promise<void>,
  ) {}

  async run({ orgId, conversationId }: QueuePayload<'conversation-snapshot'>, signal: AbortSignal): Promise<void> {
    const job = await readOutboxJob(this.pool, orgId, 'conversation-snapshot', conversationId);
    const row = await readConversation(this.pool, orgId, conversationId);
    if (row !== null) {
      await this.look(row, signal);
      await this.ended(row);
    }
    // A request made since then has another id, stays, and is handled again.
    if (job !== null) await deleteOutboxJob(this.pool, orgId, job.id);
  }

  /** @throws what another try may mend. A workspace that git refuses is left as it was last seen. */
  private async look(row: ConversationRow, signal: AbortSignal): Promise<void> {
    const agent = row.sandboxStatus === 'RUNNING' ? this.steps.agentOf(row) : null;
    if (agent === null || row.workingDir === null) return;
    try {
      await this.snapshots.take(
        row.orgId,
        row.id,
        { agent, workspace: { directory: row.workingDir, base: row.baseCommit } },
        signal,
      );
    } catch (error) {
      if (!(error instanceof SlipwayError) || ERRORS[error.code].retry !== 'never') throw error;
      this.logger.warn({ err: error, conversation_id: row.id }, 'failed to snapshot the workspace');
    }
  }
}
