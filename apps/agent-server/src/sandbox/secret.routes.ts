import { AGENT_ROUTES } from '@slipway/contracts/agent';
import { notFound, SlipwayError } from '@slipway/errors';
import { ok, type Route, serve } from '../http/router.js';
import type { HeldSecrets } from './held-secrets.js';

/** What the app hands over, and by which names clients speak of it; a value goes in and never comes out. */
export function secretRoutes(held: HeldSecrets): Route[] {
  return [
    serve(AGENT_ROUTES.setSecrets, async ({ body }) => {
      held.replace(await body());
      return ok({ success: true });
    }),
    {
      method: 'GET',
      path: '/api/settings/secrets',
      access: 'session',
      handle: () => ok({ secrets: held.names.map((name) => ({ name, description: null })) }),
    },
    {
      method: 'GET',
      path: '/api/settings/secrets/:name',
      access: 'session',
      handle: ({ params }) => {
        if (held.value(params['name'] ?? '') === undefined) throw notFound();
        throw new SlipwayError(
          'secret.not-readable',
          'Commands have it as a variable. As a LookupSecret this address gives it to a conversation, also under another name.',
        );
      },
    },
  ];
}
