import type { After } from './after-merge.js';
import { ratio, shareOf } from './money.js';

/** Amounts are whole parts of 1e-10 USD. */
export interface CostParts {
  /** Calls that the model did not answer, and that were paid for all the same. */
  readonly retries: bigint;
  /** Answered calls of turns that ended in an error. */
  readonly failedTurns: bigint;
  /** Everything else. */
  readonly agent: bigint;
}

export interface OutcomeConversation {
  readonly id: string;
  readonly parts: CostParts;
}

export interface OutcomePullRequest {
  readonly id: string;
  readonly state: 'open' | 'closed' | 'merged';
  readonly reverted: After;
  readonly edited: After;
  /** Conversations that published it. */
  readonly conversations: readonly string[];
}

/** A pull request with its shares of its conversations, or a conversation without one. */
export interface WorkItem {
  readonly pullRequest: string | null;
  readonly cost: CostParts & { readonly reverted: bigint };
  /** Those that count here: each counts in one item. */
  readonly conversations: readonly string[];
}

/**
 * Divides what conversations cost. A conversation with several pull requests costs each of them an equal share, a pull
 * request of several conversations has a share of each, and all items together come to what all conversations cost. The
 * order of `pullRequests` decides where a conversation itself counts: at its first.
 */
export function workItems(
  conversations: readonly OutcomeConversation[],
  pullRequests: readonly OutcomePullRequest[],
): WorkItem[] {
  const published = new Map<string, string[]>();
  for (const { id, conversations: of } of pullRequests)
    for (const each of of) published.set(each, [...(published.get(each) ?? []), id]);
  const known = new Map(conversations.map((each) => [each.id, each]));
  const items: WorkItem[] = pullRequests.map(({ id, reverted, conversations: of }) => {
    const shares = of.flatMap((each) => {
      const conversation = known.get(each);
      const all = published.get(each) ?? [];
      return conversation === undefined ? [] : [partsShare(conversation.parts, all.length, all.indexOf(id))];
    });
    const sum = (part: keyof CostParts): bigint => shares.reduce((total, share) => total + share[part], 0n);
    const isReverted = reverted === 'yes' || reverted === 'pending-yes';
    const agent = sum('agent');
    return {
      pullRequest: id,
      cost: {
        retries: sum('retries'),
        failedTurns: sum('failedTurns'),
        agent: isReverted ? 0n : agent,
        reverted: isReverted ? agent : 0n,
      },
      conversations: of.filter((each) => known.has(each) && published.get(each)?.[0] === id),
    };
  });
  for (const { id, parts } of conversations)
    if (!published.has(id)) items.push({ pullRequest: null, cost: { ...parts, reverted: 0n }, conversations: [id] });
  return items;
}

function partsShare({ retries, failedTurns, agent }: CostParts, parts: number, index: number): CostParts {
  return {
    retries: shareOf(retries, parts, index),
    failedTurns: shareOf(failedTurns, parts, index),
    agent: shareOf(agent, parts, index),
  };
}

/** Counts of merged pull requests by what became of them. */
export interface AfterCounts {
  /** Their 14 days are over and were read. */
  readonly settled: number;
  /** Of the settled. */
  readonly found: number;
  /** Their 14 days are over and could not be read: in no share. */
  readonly unknown: number;
  /** Their 14 days are not over: in no share. */
  readonly pending: number;
  /** Of the pending, those that it has happened to already. */
  readonly foundEarly: number;
}

export function afterCounts(all: readonly After[]): AfterCounts {
  const count = (...of: After[]): number => all.filter((each) => of.includes(each)).length;
  return {
    settled: count('yes', 'no'),
    found: count('yes'),
    unknown: count('unknown'),
    pending: count('pending', 'pending-yes'),
    foundEarly: count('pending-yes'),
  };
}

/** Of those whose 14 days are over and were read. */
export function afterShare({ settled, found }: Pick<AfterCounts, 'settled' | 'found'>): number | null {
  return ratio(found, settled);
}

/** Merged among those that have ended; open ones are in no share. */
export function mergedShare({ merged, closed }: { readonly merged: number; readonly closed: number }): number | null {
  return ratio(merged, merged + closed);
}
