import type { ConversationEvent } from '@slipway/contracts/events';
import type { Completion, CompletionDelta } from '@slipway/llm';

/** Events at the end of a log that are searched for ids: a provider that gives an id again gives one of its latest. */
const RECENT = 500;

/** Ids of the latest answers in a log. */
export function recentIds(events: readonly ConversationEvent[]): string[] {
  return events.slice(-RECENT).flatMap((event) => {
    const id = event.kind === 'ActionEvent' || event.kind === 'MessageEvent' ? event.llm_response_id : null;
    return id == null ? [] : [id];
  });
}

/**
 * Gives each answer of a model an id that no answer before it had. Providers exist that give every answer the same one;
 * the text of an answer under way, and the event that ends it, are distinguished by it alone.
 */
export class ResponseIds {
  private readonly taken: Set<string>;

  /** @param known ids that the log holds already. */
  constructor(known: Iterable<string>) {
    this.taken = new Set(known);
  }

  /** For one attempt at an answer: its pieces and the answer itself get the same id. */
  attempt(): { delta(delta: CompletionDelta): CompletionDelta; completion(completion: Completion): Completion } {
    const ids = new Map<string, string>();
    const own = (id: string): string => {
      const known = ids.get(id);
      if (known !== undefined) return known;
      let free = id;
      for (let number = 2; this.taken.has(free); number += 1) free = `${id}~${number}`;
      this.taken.add(free);
      ids.set(id, free);
      return free;
    };
    return {
      delta: (delta) => ({ ...delta, responseId: own(delta.responseId) }),
      completion: (completion) => ({ ...completion, id: own(completion.id) }),
    };
  }
}
