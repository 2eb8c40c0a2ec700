import type { AgentTerms } from '@slipway/contracts';
import type { Conversation } from './conversation.js';

interface Told {
  /** The newest version that was taken. */
  newest: number;
  /** The one under way. */
  last: Promise<void>;
}

/**
 * Several may tell one agent of its terms at once, and a message may be late: they are taken one after the other, and what is older than another that came before
 * changes nothing. Kept in memory: what is meant for an earlier life of this process is meant for an earlier start, which `epoch` says.
 */
export class TermsInOrder {
  private readonly told = new WeakMap<Conversation, Told>();

  /** What bears no version is taken as it comes. @throws SlipwayError as `Conversation.setTerms`. */
  async set(conversation: Conversation, terms: AgentTerms): Promise<void> {
    const told = this.told.get(conversation) ?? { newest: -1, last: Promise.resolve() };
    this.told.set(conversation, told);
    const turn = told.last.then(async () => {
      if (terms.version !== undefined && terms.version < told.newest) return;
      await conversation.setTerms(terms, 'apply');
      told.newest = Math.max(told.newest, terms.version ?? told.newest);
    });
    told.last = turn.catch(() => {});
    await turn;
  }
}
