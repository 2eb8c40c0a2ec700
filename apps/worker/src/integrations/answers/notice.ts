import { DELIVERY_REASONS, type DeliveryReason } from '@slipway/contracts';
import type { Answer, Intent } from '@slipway/integrations';
import { z } from 'zod';

/** Said where each request is answered, whatever was decided: beside those that are said in every thread. */
const SAID_IN_SESSIONS = ['actor-foreign', 'actor-not-member', 'permission-unknown', 'other-account', 'queue-full', 'nothing-to-stop'] as const;

/** A refusal that the actor is told of. As it is kept in the row. */
export const Notice = z.object({
  code: z.enum(['actor-not-linked', 'actor-not-allowed', 'over-budget', 'no-write-access', ...SAID_IN_SESSIONS]),
  actor: z.object({ id: z.string(), login: z.string() }),
  repository: z.object({ fullName: z.string(), private: z.boolean() }).nullable(),
});
export type Notice = z.infer<typeof Notice>;

/** `null`: nothing is said. Who was not addressed is not answered, and neither are people of other workspaces or whoever has muted the thread. */
export function noticeOf(code: DeliveryReason, { trigger, actor, repository, thread }: Intent): Notice | null {
  if (trigger === 'thread-reply' || trigger === 'review' || trigger === 'mute') return null;
  if ((SAID_IN_SESSIONS as readonly string[]).includes(code) && thread.kind !== 'agent-session') return null;
  const { id, login } = actor;
  const place = repository === null ? null : { fullName: repository.fullName, private: repository.private };
  return Notice.safeParse({ code, actor: { id, login }, repository: place }).data ?? null;
}

/**
 * What is said. It repeats nothing of what was asked, and names nobody.
 * @param mayWrite whether the provider says that the actor may write to the repository; asked where the actor is not linked.
 * @returns `null`: nothing, since whoever can comment on a public repository could have us write there.
 */
export function sentenceOf({ code, repository }: Notice, mayWrite: boolean, publicUrl: string | null): Omit<Answer, 'marker'> | null {
  const said = (headline: string): Omit<Answer, 'marker'> => ({ state: 'failed', headline, said: null, links: [] });
  switch (code) {
    case 'actor-not-linked':
      if (repository !== null && !mayWrite) return repository.private ? said('Slipway works here for people who may write to this repository.') : null;
      return linkFirst(publicUrl);
    case 'actor-not-allowed':
      return said('Slipway did not start: your role in the organization does not allow it. An admin of the organization can change that.');
    case 'over-budget':
      return said('Slipway did not start: the budget is used up. An admin of the organization can raise it.');
    case 'no-write-access':
      return said('Slipway works here for people who may write to this repository.');
    case 'nothing-to-stop':
      return { ...said('Nothing of Slipway runs here.'), state: 'done' };
    default:
      return said(`Slipway did not start. ${DELIVERY_REASONS[code]}`);
  }
}

function linkFirst(publicUrl: string | null): Omit<Answer, 'marker'> {
  const answer = { state: 'waiting' as const, headline: 'Slipway does not know your account here yet. Link it in Slipway, then ask again.', said: null };
  if (publicUrl === null) return { ...answer, links: [] };
  const url = new URL('/settings/linked-accounts', publicUrl).href;
  return { ...answer, links: [{ label: 'Link your account', url }], linkAccountAt: url };
}
