import { AGENT_ROUTES } from '@slipway/contracts/agent';
import { SlipwayError } from '@slipway/errors';
import { actsForApp } from '../activation/caller.js';
import type { Conversations } from '../conversations/conversations.js';
import { ok, type Route, serve } from '../http/router.js';
import type { ActionServerClient } from '../sandbox/action-server-client.js';
import { earlierSettingsRoutes } from './earlier-settings.routes.js';
import { SettingsInOrder } from './settings-in-order.js';

/** Control of a conversation by the app, for which OpenHands' wire has no operations. */
export function appControlRoutes(conversations: Conversations, actionServer: ActionServerClient): Route[] {
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
    serve(AGENT_ROUTES.turnHunk, async ({ params, body, signal, caller }) => {
      // The notice is the platform's word to the agent: nobody else puts one into the log.
      if (!actsForApp(caller)) throw new SlipwayError('permission.denied', 'Only Slipway itself takes hunks back.');
      const { event_id: id, notice, ...hunk } = await body();
      await (await conversations.get(params['id'])).changedFor({ id, notice }, () =>
        actionServer.turnHunk(hunk, signal),
      );
      return ok({ success: true });
    }),
    ...earlierSettingsRoutes(conversations, settings),
  ];
}
