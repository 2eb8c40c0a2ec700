/** Sentence for a user whose work a spent budget stops, at a start and in the middle of a run alike. */
export function budgetReason(stop: {
  readonly whose: string | null;
  readonly limitUsd: string;
  readonly until: Date;
}): string {
  const budget = stop.whose === null ? "The organization's budget" : `The budget of ${stop.whose}`;
  return `${budget} of ${stop.limitUsd} USD a month is used up. ${beginsAgain(stop.until)}`;
}

/** When a budget of a month is whole again. */
export function beginsAgain(until: Date): string {
  const day = new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  }).format(until);
  return `It begins again on ${day} at 00:00 UTC; until then an admin can raise it.`;
}

/**
 * Sentence for a user when less is left of a budget than a call may cost. `limitNeeded` reads the amount out of it
 * again, in the browser too: the log of a conversation has the sentence alone.
 * @param short.of as it stands in a sentence: `the limit of this conversation`. USD; `callUsd` is the prompt at its
 * most and an answer that is just of use.
 */
export function shortReason(short: {
  readonly of: string;
  readonly limitUsd: number;
  readonly spentUsd: number;
  readonly callUsd: number;
}): string {
  const { of, limitUsd, spentUsd, callUsd } = short;
  const left = plain(Math.floor((limitUsd - spentUsd) * 10_000 + ROUNDING) / 10_000);
  const call = plain(Math.ceil(callUsd * 10_000 - ROUNDING) / 10_000);
  const needed = plain(Math.ceil((spentUsd + callUsd) * 100 - ROUNDING) / 100);
  return `${left} USD is left of ${of} of ${plain(limitUsd)} USD, and the next call may cost ${call} USD for its prompt and a short answer. A limit of ${needed} USD or more lets it go on.`;
}

/** The limit with which the call would go on, USD; `null` for a sentence that names none. */
export function limitNeeded(reason: string): number | null {
  const found = /A limit of (\d+(?:\.\d+)?) USD or more lets it go on\./.exec(reason)?.[1];
  return found === undefined ? null : Number(found);
}

/** A last place of a double is no money. */
const ROUNDING = 1e-6;

function plain(usd: number): string {
  return String(Number(usd.toFixed(4)));
}
