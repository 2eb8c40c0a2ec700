import type { QueuePayload } from '@slipway/contracts';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { readConversation } from '../conversations/conversation.queries.js';
import type { StartSteps } from '../start/start-steps.js';
import type { Snapshots } from './snapshot.js';

/** Looks at a running workspace. Needs no lock: it reads, and the newest look wins. */
export class SnapshotJob {
  constructor(
    private readonly pool: SqlPool,
    private readonly steps: StartSteps,
    private readonly snapshots: Snapshots,
  ) {}

  async run({ orgId, conversationId }: QueuePayload<'conversation-snapshot'>, signal: AbortSignal): Promise<void> {
    const wish = await inOrg(this.pool, orgId, (client) =>
      client.query<{ enqueued_at: string }>(`SELECT enqueued_at::text FROM app.outbox WHERE queue = 'conversation-snapshot' AND key = $1`, [conversationId]),
    );
    const row = await readConversation(this.pool, orgId, conversationId);
    const agent = row === null || row.sandboxStatus !== 'RUNNING' ? null : this.steps.agentOf(row);
    if (agent !== null && row?.workingDir != null)
      await this.snapshots.take(orgId, conversationId, agent, { directory: row.workingDir, base: row.baseCommit }, signal);
    // One asked for since we looked stays and is looked at again.
    const seen = wish.rows[0]?.enqueued_at;
    if (seen !== undefined)
      await inOrg(this.pool, orgId, (client) =>
        client.query(`DELETE FROM app.outbox WHERE queue = 'conversation-snapshot' AND key = $1 AND enqueued_at = $2::timestamptz`, [conversationId, seen]),
      );
  }
}
