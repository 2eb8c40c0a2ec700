import { AGENT_ROUTES, type AgentRoute } from '@slipway/contracts/agent';
import type { Conversation } from '../conversations/conversation.js';
import type { Conversations } from '../conversations/conversations.js';
import { type BodyOf, ok, type Route, serve } from '../http/router.js';
import { checkEarlierRunSettings, type SettingsInOrder } from './settings-in-order.js';

/** Aliases of `PUT …/settings` for an app-server or worker of the release before. They go in 0.2.0. */
export function earlierSettingsRoutes(conversations: Conversations, settings: SettingsInOrder): Route[] {
  const of = <Entry extends AgentRoute>(
    entry: Entry,
    work: (conversation: Conversation, body: BodyOf<Entry>) => Promise<void>,
  ): Route =>
    serve(entry, async ({ params, body }) => {
      await work(await conversations.get(params['id']), await body());
      return ok({ success: true });
    });
  return [
    of(AGENT_ROUTES.earlierRunSettings, (conversation, body) => settings.applyEarlierRunSettings(conversation, body)),
    of(AGENT_ROUTES.checkEarlierRunSettings, async (conversation, values) => {
      conversation.assertOwned(values.epoch);
      await checkEarlierRunSettings(conversation, values);
    }),
    of(AGENT_ROUTES.earlierConfirmation, (conversation, body) => settings.applyEarlierConfirmation(conversation, body)),
  ];
}
