import { SlipwayError } from '@slipway/errors';
import type { ConversationRow } from '../conversations/conversation.queries.js';
import type { HeldConversation } from '../conversations/held-conversation.js';
import type { AgentServerClient } from '../peers/agent-server.client.js';
import type { ConversationModels } from './conversation-models.js';

/** Gives an agent that has the conversation the model that the row names by now. */
export class ModelSwitch {
  constructor(private readonly models: ConversationModels) {}

  /**
   * No-op when the agent acknowledged that model; repeatable. The new model is recorded before it is sent: without an
   * answer it may have arrived, so it is sent again, even when the model has been switched back. A permanent failure is
   * reported in the log, and the agent keeps its model: messages must not wait behind it.
   * @throws SlipwayError what may succeed later: `sandbox.unreachable`, `service.unavailable`, `secret.unreadable`.
   */
  async apply(held: HeldConversation, agent: AgentServerClient, signal: AbortSignal): Promise<void> {
    const { row } = held;
    const { model: told, modelsTried = [] } = row.checkpoint;
    if (told === undefined || (told === row.model && modelsTried.length === 0)) return;
    const mayHave = [...new Set([told, ...modelsTried])];
    if (!modelsTried.includes(row.model))
      await held.write((current) => ({ events: [], columns: { checkpoint: { ...current.checkpoint, modelsTried: [...modelsTried, row.model] } } }));
    const refusal = await this.give(row, agent, mayHave, signal);
    await held.write(({ checkpoint: { modelsTried: _over, ...checkpoint } }) => ({
      events: refusal === null ? [] : [{ kind: 'error', code: refusal.code, detail: `The agent keeps the model that it has. ${refusal.detail}` }],
      columns: { checkpoint: { ...checkpoint, model: row.model } },
    }));
  }

  private async give(row: ConversationRow, agent: AgentServerClient, mayHave: readonly string[], signal: AbortSignal): Promise<SlipwayError | null> {
    try {
      await agent.switchLlm(row.id, await this.models.switched(row, mayHave, signal), signal);
      return null;
    } catch (error) {
      if (!(error instanceof SlipwayError)) throw error;
      if (error.code === 'model.profile-missing') return error;
      // A sandbox of an older image knows no switch; one that does not know the conversation is no sandbox of it any more.
      if (error.code === 'resource.not-found' && (await agent.probe(row.id, signal)) === 'alive')
        return new SlipwayError('model.unknown', 'Its sandbox is too old to be given another; pause the conversation and resume it.', { cause: error });
      throw error;
    }
  }
}
