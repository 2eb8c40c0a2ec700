import { type AgentClient, isMissing } from '@slipway/agent-client';
import type { CheckpointPaths } from '@slipway/contracts/agent';
import { newestCheckpoint, packsOf } from '@slipway/db/checkpoints';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import type { RuntimeApiClient } from '../clients/runtime-api.client.js';
import type { ConversationRow } from '../conversations/conversation.queries.js';
import type { CheckpointPacks } from './checkpoint-packs.js';

/** Checkpoints that are tried, newest first, when one cannot be read. */
const MAX_TRIED = 3;

/** Files that were brought back. */
export interface RestoredFiles {
  /** Place in the log after which they were so. */
  readonly seq: number;
  readonly exact: boolean;
  readonly kept: CheckpointPaths;
}

/** Brings the files of a conversation into a sandbox that does not have them. */
export class CheckpointRestore {
  constructor(
    private readonly pool: SqlPool,
    private readonly runtime: RuntimeApiClient,
    private readonly packs: CheckpointPacks,
    private readonly logger: Logger,
  ) {}

  /**
   * From the newest durable checkpoint, unless these files come from it already or have become it. Repeatable. `null`:
   * nothing was done, since there is no checkpoint that can be read, or none is needed.
   * @throws SlipwayError what another try may mend: `service.unavailable`, `sandbox.*`.
   */
  async restore(row: ConversationRow, agent: AgentClient, signal: AbortSignal): Promise<RestoredFiles | null> {
    if (row.epoch <= 1) return null;
    let before: number | null = null;
    for (let tried = 0; tried < MAX_TRIED; tried += 1) {
      const found = await this.find(row, before);
      if (found === null || (await this.isThere(row.id, found.id, agent, signal))) return null;
      try {
        const { exact, kept } = await this.runtime.restoreCheckpoint(
          row.orgId,
          {
            sessionId: row.id,
            conversation: row.id,
            checkpoint: { id: found.id, root: found.root.toString('hex') },
            current: null,
            packs: await this.packs.open(row.orgId, found.packs),
          },
          signal,
        );
        return { seq: found.seq, exact, kept };
      } catch (error) {
        if (!(error instanceof SlipwayError) || error.code !== 'checkpoint.broken') throw error;
        this.logger.error(
          { err: error, conversation_id: row.id, org_id: row.orgId, checkpoint: found.id },
          'checkpoint cannot be read, trying the one before',
        );
        before = found.seq - 1;
      }
    }
    return null;
  }

  private find({ orgId, id }: ConversationRow, seq: number | null) {
    return inOrg(this.pool, orgId, async (client) => {
      const checkpoint = await newestCheckpoint(client, orgId, { conversationId: id, seq });
      return checkpoint === null ? null : { ...checkpoint, packs: await packsOf(client, orgId, checkpoint.id) };
    });
  }

  /** A sandbox of an earlier release knows no checkpoints: it is left as it is. */
  private async isThere(id: string, checkpoint: string, agent: AgentClient, signal: AbortSignal): Promise<boolean> {
    return agent.call('knowsCheckpoint', { id, checkpoint }, { signal }).then(
      ({ known }) => known,
      (error: unknown) => (isMissing(error) ? true : Promise.reject(error)),
    );
  }
}
