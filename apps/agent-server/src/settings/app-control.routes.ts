import { AGENT_ROUTES } from '@slipway/contracts/agent';
import type { Conversations } from '../conversations/conversations.js';
import { ok, type Route, serve } from '../http/router.js';
import { earlierSettingsRoutes } from './earlier-settings.routes.js';
import { SettingsInOrder } from './settings-in-order.js';

/** Control of a conversation by the app, for which OpenHands' wire has no operations. */
export function appControlRoutes(conversations: Conversations): Route[] {
  const settings = new SettingsInOrder(conversations);
  return [
    serve(AGENT_ROUTES.applySettings, async ({ params, body }) => {
      const asked = await body();
      return ok(await settings.apply(await conversations.get(params['id']), asked));
    }),
    serve(AGENT_ROUTES.revokeRule, async ({ params, body }) => {
      const rule = await body();
      await (await conversations.get(params['id'])).confirmation.revoke(rule);
      return ok({ success: true });
    }),
    ...earlierSettingsRoutes(conversations, settings),
  ];
}
