import type { SqlPool } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import type { HeldConversation } from '../conversations/held-conversation.js';
import type { AgentServerClient } from '../peers/agent-server.client.js';
import { conversationTermsOf } from './org-limits.queries.js';

/** Tells an agent that has the conversation how far it goes by itself, when that was changed while nobody could tell it. */
export class TermsSwitch {
  constructor(private readonly pool: SqlPool) {}

  /**
   * Nothing when it knows; repeatable. What it refuses is left to the next start, which is bounded by the same ceilings: messages must not wait behind it.
   * @throws SlipwayError `sandbox.unreachable`: it may know later.
   */
  async apply(held: HeldConversation, agent: AgentServerClient, signal: AbortSignal): Promise<void> {
    const { terms: told } = held.row.checkpoint;
    if (told === undefined) return;
    const terms = await conversationTermsOf(this.pool, held.orgId, held.id);
    if (told === terms.text) return;
    try {
      const { agentType, maxIterations, maxBudgetUsd } = terms;
      await agent.setTerms(held.id, { agent_type: agentType, max_iterations: maxIterations, max_budget_per_task: maxBudgetUsd }, signal);
    } catch (error) {
      if (!(error instanceof SlipwayError) || !REFUSED.has(error.code)) throw error;
    }
    await held.write((current) => ({ events: [], columns: { checkpoint: { ...current.checkpoint, terms: terms.text } } }));
  }
}

const REFUSED = new Set<string>(['request.invalid', 'conversation.busy', 'resource.not-found']);
