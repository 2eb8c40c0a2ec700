import { z } from 'zod';
import type { TicketStage } from '../../answers/thread-answers.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import { ProviderRefusal } from '../../calls/provider-refusal.js';
import { fields, flag, id, list, maybe, name } from '../../reading/fields.js';

const category = maybe(fields({ key: maybe(name) }));
const ticket = fields({ fields: fields({ status: maybe(fields({ statusCategory: category })) }) });
const transitions = fields({
  transitions: list(
    fields({
      id,
      isAvailable: z.boolean().nullish(),
      to: maybe(fields({ statusCategory: category })),
      fields: z
        .record(z.string(), fields({ required: flag, hasDefaultValue: flag }))
        .nullish()
        .catch(null),
    }),
  ),
});

/**
 * By the category of a status, never by its name: people name them as they like. What is further than a stage stays.
 */
const MOVES: Readonly<Record<TicketStage, { readonly from: readonly string[]; readonly to: string }>> = {
  started: { from: ['new', 'undefined'], to: 'indeterminate' },
  done: { from: ['new', 'undefined', 'indeterminate'], to: 'done' },
};

/**
 * Takes the first transition to the stage that asks for nothing. No-op when the ticket is there, or further.
 * @throws ProviderRefusal `conflict` when its workflow has none from where it is.
 */
export async function moveTicket(client: ProviderClient, issue: string, stage: TicketStage): Promise<void> {
  const { from, to } = MOVES[stage];
  const { body: now } = await client.call({ method: 'GET', path: `${issue}?fields=status`, answer: ticket });
  if (!from.includes(now.fields.status?.statusCategory?.key ?? '')) return;
  const { body } = await client.call({
    method: 'GET',
    path: `${issue}/transitions?expand=transitions.fields`,
    answer: transitions,
  });
  const fit = body.transitions.find(
    (each) =>
      each.to?.statusCategory?.key === to &&
      each.isAvailable !== false &&
      !Object.values(each.fields ?? {}).some(({ required, hasDefaultValue }) => required && !hasDefaultValue),
  );
  if (fit === undefined)
    throw new ProviderRefusal(`${issue}: no transition to ${to}`, {
      kind: 'conflict',
      status: null,
      retryAt: null,
      outcomeUnknown: false,
    });
  await client.call({
    method: 'POST',
    path: `${issue}/transitions`,
    body: { transition: { id: fit.id } },
    answer: z.unknown(),
  });
}
