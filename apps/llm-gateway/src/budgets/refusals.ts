import { budgetReason } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import type { StoredKey } from '../keys/keys.queries.js';
import type { Refusal } from './authority.queries.js';
import { toUsd } from './ticks.js';

/** Nothing of use is left of a budget, in the sentence that the conversation shows. */
export function exhausted(key: StoredKey, refusal: Refusal): SlipwayError {
  const limitUsd = plain(refusal.limit);
  const until = new Date(refusal.ends);
  if (refusal.kind === 'org') return new SlipwayError('budget.exhausted', budgetReason({ whose: null, limitUsd, until }));
  if (refusal.kind === 'member')
    return new SlipwayError('budget.exhausted', budgetReason({ whose: key.userLabel ?? key.userId ?? 'this person', limitUsd, until }));
  const whose = refusal.kind === 'key' ? 'this key' : 'this conversation';
  const again = until.getUTCFullYear() >= 9999 ? 'an admin can raise it' : `it begins again at ${until.toISOString()}, until then an admin can raise it`;
  return new SlipwayError('budget.exhausted', `The budget of ${whose} of ${limitUsd} USD is used up; ${again}.`);
}

/** What is left would do, but calls under way hold it: they give back what they do not use. */
export function reserved(refusal: Refusal | null): SlipwayError {
  const which = refusal === null ? 'a budget' : `the budget of ${plain(refusal.limit)} USD`;
  return new SlipwayError('rate.limited', `All that is left of ${which} is held by calls under way; try again when one of them has ended.`, {
    retryAfterSeconds: 2,
  });
}

export function away(cause: unknown): SlipwayError {
  return new SlipwayError('service.unavailable', 'The budgets cannot be asked: the database does not answer.', { cause, retryAfterSeconds: 1 });
}

function plain(ticks: number): string {
  return String(Number(toUsd(ticks).toFixed(4)));
}
