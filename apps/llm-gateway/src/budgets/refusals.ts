import { beginsAgain, budgetReason, shortReason } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import type { StoredKey } from '../keys/keys.queries.js';
import type { Refusal } from './authority.queries.js';
import { toUsd } from './ticks.js';

/**
 * Nothing of use is left of a budget, in the sentence that the conversation shows: a conversation's own limit has a
 * code of its own, since who may write to it raises it.
 * @param least of the call: ticks for its prompt and an answer that is just of use.
 */
export function exhausted(key: StoredKey, refusal: Refusal, least: number): SlipwayError {
  const own = refusal.kind === 'conversation' && new Date(refusal.ends).getUTCFullYear() >= 9999;
  const code = own ? 'agent.budget-limit' : 'budget.exhausted';
  if (toUsd(refusal.limit - refusal.spent) >= LEAST_SHOWN) {
    const [limitUsd, spentUsd, callUsd] = [toUsd(refusal.limit), toUsd(refusal.spent), toUsd(least)];
    const reason = shortReason({
      of: own ? 'the limit of this conversation' : budgetOf(key, refusal),
      limitUsd,
      spentUsd,
      callUsd,
    });
    const monthly = refusal.kind === 'org' || refusal.kind === 'member';
    return new SlipwayError(code, monthly ? `${reason} ${beginsAgain(new Date(refusal.ends))}` : reason);
  }
  const limitUsd = plain(refusal.limit);
  const until = new Date(refusal.ends);
  if (refusal.kind === 'org')
    return new SlipwayError('budget.exhausted', budgetReason({ whose: null, limitUsd, until }));
  if (refusal.kind === 'member')
    return new SlipwayError(
      'budget.exhausted',
      budgetReason({ whose: key.userLabel ?? key.userId ?? 'this user', limitUsd, until }),
    );
  if (own)
    return new SlipwayError(code, `The limit of this conversation of ${limitUsd} USD is used up; raise it to go on.`);
  const whose = refusal.kind === 'key' ? 'this key' : 'this conversation';
  const again =
    until.getUTCFullYear() >= 9999
      ? 'an admin can raise it'
      : `it begins again at ${until.toISOString()}, until then an admin can raise it`;
  return new SlipwayError('budget.exhausted', `The budget of ${whose} of ${limitUsd} USD is used up; ${again}.`);
}

/** Less is nothing in the places that are shown. USD. */
const LEAST_SHOWN = 0.0001;

function budgetOf(key: StoredKey, { kind }: Refusal): string {
  if (kind === 'org') return "the organization's budget";
  if (kind === 'member') return `the budget of ${key.userLabel ?? key.userId ?? 'this user'}`;
  return kind === 'key' ? 'the budget of this key' : 'the budget of this conversation';
}

/** What is left would do, but calls under way hold it: they give back what they do not use. */
export function reserved(refusal: Refusal | null): SlipwayError {
  const which = refusal === null ? 'a budget' : `the budget of ${plain(refusal.limit)} USD`;
  return new SlipwayError(
    'rate.limited',
    `All that is left of ${which} is held by calls under way; try again when one of them has ended.`,
    {
      retryAfterSeconds: 2,
    },
  );
}

export function away(cause: unknown): SlipwayError {
  return new SlipwayError('service.unavailable', 'The budgets cannot be asked: the database does not answer.', {
    cause,
    retryAfterSeconds: 1,
  });
}

function plain(ticks: number): string {
  return String(Number(toUsd(ticks).toFixed(4)));
}
