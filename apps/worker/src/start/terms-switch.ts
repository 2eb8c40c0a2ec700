import type { EarlierRunSettings } from '@slipway/contracts';
import type { SqlPool } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import type { HeldConversation } from '../conversations/held-conversation.js';
import type { AgentServerClient } from '../peers/agent-server.client.js';
import { conversationTermsOf } from './org-limits.queries.js';

/** Tells an agent that has the conversation how far it goes by itself, when the one who changed that could not, or cannot be known to have. */
export class TermsSwitch {
  constructor(private readonly pool: SqlPool) {}

  /**
   * Nothing when it is known to have them; repeatable. What it refuses is said again before its next message, when it rests, and bounded by the same ceilings at the
   * next start: messages must not wait behind it. What it does not refuse holds all the same.
   * @throws SlipwayError `sandbox.unreachable`: it may know later; `ingest.stale-epoch`: it is no sandbox of the conversation any more.
   */
  async apply(held: HeldConversation, agent: AgentServerClient, signal: AbortSignal): Promise<void> {
    const { terms: told, termsVersion = 0 } = held.row.checkpoint;
    if (told === undefined) return;
    const { agentType, maxIterations, maxBudgetUsd, text, version } = await conversationTermsOf(this.pool, held.orgId, held.id);
    if (told === text && termsVersion === version) return;
    const say = (terms: EarlierRunSettings): Promise<'taken' | 'refused'> =>
      agent.setTerms(held.id, { ...terms, version, epoch: held.row.epoch }, signal).then(
        () => 'taken',
        (error: unknown) => {
          if (!(error instanceof SlipwayError) || !REFUSED.has(error.code)) throw error;
          return 'refused';
        },
      );
    const each = [{ max_iterations: maxIterations }, { max_budget_per_task: maxBudgetUsd }, { agent_type: agentType }];
    const answer = await say(Object.assign({}, ...each));
    if (answer === 'refused') for (const one of each) await say(one);
    await held.write((current) => ({
      events: [],
      columns: { checkpoint: { ...current.checkpoint, ...(answer === 'taken' ? { terms: text, termsVersion: version } : { termsRefused: version }) } },
    }));
  }
}

const REFUSED = new Set<string>(['request.invalid', 'conversation.busy', 'resource.not-found']);
