import { EarlierConfirmation, EarlierRunSettings } from '@slipway/contracts/agent';
import { parseOrThrow } from '@slipway/errors';
import type { Conversation } from '../conversations/conversation.js';
import type { Conversations } from '../conversations/conversations.js';
import { ok, type Route, readJson } from '../http/router.js';
import { checkEarlierRunSettings, type SettingsInOrder } from './settings-in-order.js';

/** Aliases of `PUT …/settings` for an app-server or worker of the release before. They go in 0.2.0. */
export function earlierSettingsRoutes(conversations: Conversations, settings: SettingsInOrder): Route[] {
  const post = (path: string, work: (conversation: Conversation, body: unknown) => Promise<void>): Route => ({
    method: 'POST',
    path: `/api/slipway/conversations/:id${path}`,
    access: 'session',
    handle: async ({ params, request }) => {
      await work(await conversations.get(params['id']), await readJson(request));
      return ok({ success: true });
    },
  });
  return [
    post('/terms', (conversation, body) => settings.applyEarlierRunSettings(conversation, parseOrThrow(EarlierRunSettings, body))),
    post('/terms/check', async (conversation, body) => {
      const values = parseOrThrow(EarlierRunSettings, body);
      conversation.assertOwned(values.epoch);
      await checkEarlierRunSettings(conversation, values);
    }),
    post('/brake', (conversation, body) => settings.applyEarlierConfirmation(conversation, parseOrThrow(EarlierConfirmation, body))),
  ];
}
