import { type AgentClient, letRun } from '@slipway/agent-client';
import type { SqlPool } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import type { RuntimeApiClient } from '../clients/runtime-api.client.js';
import { resumeIsAsked } from '../conversations/conversation.queries.js';
import type { ConversationSpendings } from '../conversations/conversation-spending.js';
import type { HeldConversation } from '../conversations/held-conversation.js';
import type { Delivery } from '../delivery/delivery.js';
import type { SettingsSync } from '../settings/settings-sync.js';
import { probeSandbox } from './sandbox-liveness.js';

/** Brings settings, budget and inbox to a conversation whose sandbox runs. */
export class RunningConversations {
  constructor(
    private readonly pool: SqlPool,
    private readonly runtime: RuntimeApiClient,
    private readonly settings: SettingsSync,
    private readonly spendings: Pick<ConversationSpendings, 'apply'>,
    private readonly delivery: Delivery,
    private readonly logger: Logger,
  ) {}

  /** False when there is no sandbox that has the conversation. */
  async deliver(held: HeldConversation, agent: AgentClient | null): Promise<boolean> {
    const { row } = held;
    if (row.startStatus !== 'READY' || row.sandboxStatus !== 'RUNNING' || row.checkpoint.epoch !== row.epoch)
      return false;
    if (agent === null) return false;
    if (
      !row.leaseFresh &&
      (await probeSandbox(held, agent, { runtime: this.runtime, pool: this.pool }, held.signal)) === 'dead'
    )
      return false;
    try {
      const giveModel = await this.settings.apply(held, agent, held.signal);
      // Before the run goes on: what it may spend by now.
      await this.spendings.apply(held.orgId, held.id, held.signal);
      // app-server asked this sandbox itself and got no answer, so that the lease may speak for one that is dead.
      if (row.executionStatus === 'paused' && (await resumeIsAsked(this.pool, held.orgId, held.id)))
        await letRun(agent, held.id, { signal: held.signal });
      await giveModel();
      const delivered = await this.delivery.deliver(held, agent, {}, held.signal);
      this.logger.info({ delivered }, 'inbox delivered');
      return true;
    } catch (error) {
      if (held.signal.aborted || !(error instanceof SlipwayError)) throw error;
      if (error.code === 'ingest.stale-epoch') return false;
      if ((await probeSandbox(held, agent, { runtime: this.runtime, pool: this.pool }, held.signal)) === 'dead')
        return false;
      throw error;
    }
  }
}
