import { DELIVERY_REASONS } from '@slipway/contracts/integrations';
import type { Answer } from '@slipway/integrations';
import type { Notice } from '@slipway/integrations/deliveries';

/**
 * Text of the notice. It repeats nothing of the request, and names no user.
 * @param mayWrite whether the provider says that the actor may write to the repository; asked where the actor is not
 * linked.
 * @returns `null`: nothing, since any commenter on a public repository could have us write there.
 */
export function sentenceOf(
  { code, repository }: Notice,
  mayWrite: boolean,
  publicUrl: string | null,
): Omit<Answer, 'marker'> | null {
  const said = (headline: string): Omit<Answer, 'marker'> => ({ state: 'failed', headline, said: null, links: [] });
  switch (code) {
    case 'actor-not-linked':
      if (repository !== null && !mayWrite)
        return repository.private ? said('Slipway works here for people who may write to this repository.') : null;
      return linkFirst(publicUrl);
    case 'actor-not-allowed':
      return said(
        'Slipway did not start: your role in the organization does not allow it. An admin of the organization can change that.',
      );
    case 'over-budget':
      return said('Slipway did not start: the budget is used up. An admin of the organization can raise it.');
    case 'no-write-access':
      return said('Slipway works here for people who may write to this repository.');
    case 'nothing-to-stop':
      return { ...said('Nothing of Slipway runs here.'), state: 'done' };
    case 'four-eyes':
    case 'second-factor':
    case 'answer-late':
      return said(DELIVERY_REASONS[code]);
    default:
      return said(`Slipway did not start. ${DELIVERY_REASONS[code]}`);
  }
}

function linkFirst(publicUrl: string | null): Omit<Answer, 'marker'> {
  const answer = {
    state: 'waiting' as const,
    headline: 'Slipway does not know your account here yet. Link it in Slipway, then ask again.',
    said: null,
  };
  if (publicUrl === null) return { ...answer, links: [] };
  const url = new URL('/settings/linked-accounts', publicUrl).href;
  return { ...answer, links: [{ label: 'Link your account', url }], linkAccountAt: url };
}
