import { SandboxSecrets } from '@slipway/contracts/agent';
import { notFound, parseOrThrow, SlipwayError } from '@slipway/errors';
import { ok, type Route, readJson } from '../http/router.js';
import type { HeldSecrets } from './held-secrets.js';

/** What the app hands over, and by which names clients speak of it; a value goes in and never comes out. */
export function secretRoutes(held: HeldSecrets): Route[] {
  return [
    {
      method: 'POST',
      path: '/api/slipway/secrets',
      access: 'session',
      handle: async ({ request }) => {
        held.replace(parseOrThrow(SandboxSecrets, await readJson(request)));
        return ok({ success: true });
      },
    },
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
