import type { DeliveryReason } from '@slipway/contracts';
import type { Answer, Intent } from '@slipway/integrations';
import { z } from 'zod';

/** A refusal that the actor is told of, once in a thread. As it is kept in the row. */
export const Notice = z.object({
  code: z.enum(['actor-not-linked', 'actor-not-allowed', 'over-budget', 'no-write-access']),
  actor: z.object({ id: z.string(), login: z.string() }),
  repository: z.object({ fullName: z.string(), private: z.boolean() }).nullable(),
});
export type Notice = z.infer<typeof Notice>;

/** `null`: nothing is said. Who was not addressed is not answered, and neither are people of other workspaces or whoever has muted the thread. */
export function noticeOf(code: DeliveryReason, { trigger, actor, repository }: Intent): Notice | null {
  if (trigger === 'thread-reply' || trigger === 'review' || trigger === 'mute') return null;
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
  const said = (headline: string, links: Answer['links'] = []): Omit<Answer, 'marker'> => ({ state: 'done', headline, said: null, links });
  switch (code) {
    case 'actor-not-linked':
      if (repository !== null && !mayWrite) return repository.private ? said('Slipway works here for people who may write to this repository.') : null;
      return said(
        'Slipway does not know your account here yet. Link it in Slipway, then ask again.',
        publicUrl === null ? [] : [{ label: 'Link your account', url: new URL('/settings/linked-accounts', publicUrl).href }],
      );
    case 'actor-not-allowed':
      return said('Slipway did not start: your role in the organization does not allow it. An admin of the organization can change that.');
    case 'over-budget':
      return said('Slipway did not start: the budget is used up. An admin of the organization can raise it.');
    case 'no-write-access':
      return said('Slipway works here for people who may write to this repository.');
  }
}
