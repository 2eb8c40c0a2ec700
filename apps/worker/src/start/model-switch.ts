import { SlipwayError } from '@slipway/errors';
import type { HeldConversation } from '../conversations/held-conversation.js';
import type { AgentServerClient } from '../peers/agent-server.client.js';
import type { ConversationModels } from './conversation-models.js';

/** Gives an agent that has the conversation the model that the row names by now. */
export class ModelSwitch {
  constructor(private readonly models: ConversationModels) {}

  /**
   * Nothing when it has that one already; repeatable. What cannot be done however often it is tried is said in the log, and the agent keeps the model that it has:
   * messages must not wait behind it.
   * @throws SlipwayError what may succeed later: `sandbox.unreachable`, `service.unavailable`, `secret.unreadable`.
   */
  async apply(held: HeldConversation, agent: AgentServerClient, signal: AbortSignal): Promise<void> {
    const { row } = held;
    const told = row.checkpoint.model;
    if (told === undefined || told === row.model) return;
    const refusal = await this.give(held, agent, told, signal);
    await held.write((current) => ({
      events: refusal === null ? [] : [{ kind: 'error', code: refusal.code, detail: `The agent keeps the model that it has. ${refusal.detail}` }],
      columns: { checkpoint: { ...current.checkpoint, model: row.model } },
    }));
  }

  private async give(held: HeldConversation, agent: AgentServerClient, told: string, signal: AbortSignal): Promise<SlipwayError | null> {
    try {
      await agent.switchLlm(held.id, await this.models.switched(held.row, told, signal), signal);
      return null;
    } catch (error) {
      if (!(error instanceof SlipwayError)) throw error;
      if (error.code === 'model.profile-missing') return error;
      // A sandbox of an older image knows no switch; one that does not know the conversation is no sandbox of it any more.
      if (error.code === 'resource.not-found' && (await agent.probe(held.id, signal)) === 'alive')
        return new SlipwayError('model.unknown', 'Its sandbox is too old to be given another; pause the conversation and resume it.', { cause: error });
      throw error;
    }
  }
}
