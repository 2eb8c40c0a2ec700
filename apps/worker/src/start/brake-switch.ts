import type { SqlPool } from '@slipway/db/sql';
import { settingsOfMode } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import type { HeldConversation } from '../conversations/held-conversation.js';
import type { AgentServerClient } from '../peers/agent-server.client.js';
import { confirmationOf } from './org-limits.queries.js';

/** Tells an agent that has the conversation how often it asks by now, when its organization or a person has changed that. */
export class BrakeSwitch {
  constructor(private readonly pool: SqlPool) {}

  /**
   * Nothing when it is known to have the newest; repeatable. Before anything else that an agent is told: whatever it does next is under the brake of now.
   * @throws SlipwayError `sandbox.unreachable`: it may know later; `ingest.stale-epoch`, `resource.not-found`: it is no sandbox of the conversation any more.
   */
  async apply(held: HeldConversation, agent: AgentServerClient, signal: AbortSignal): Promise<void> {
    const { terms, brakeVersion } = held.row.checkpoint;
    if (terms === undefined) return;
    const { mode, brake, version } = await confirmationOf(this.pool, held.orgId, held.id);
    if (brakeVersion === version) return;
    const settings = settingsOfMode(mode);
    try {
      await agent.setBrake(held.id, { ...settings, brake, version, epoch: held.row.epoch, chosen: false }, signal);
    } catch (error) {
      if (!(error instanceof SlipwayError) || error.code !== 'resource.not-found') throw error;
      // One of a release before this one knows the mode alone, and the rest at its next start.
      await agent.ask(held.id, settings, signal);
    }
    await held.write((current) => ({ events: [], columns: { checkpoint: { ...current.checkpoint, brakeVersion: version } } }));
  }
}
