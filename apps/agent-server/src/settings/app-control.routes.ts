import { ApplySettings } from '@slipway/contracts/agent';
import { RevokeConfirmationRule } from '@slipway/contracts/conversations';
import { parseOrThrow } from '@slipway/errors';
import type { Conversations } from '../conversations/conversations.js';
import { type Handler, ok, type Route, readJson } from '../http/router.js';
import { earlierSettingsRoutes } from './earlier-settings.routes.js';
import { SettingsInOrder } from './settings-in-order.js';

/** Control of a conversation by the app, for which OpenHands' wire has no operations. */
export function appControlRoutes(conversations: Conversations): Route[] {
  const of = (method: Route['method'], path: string, handle: Handler): Route => ({
    method,
    path: `/api/slipway/conversations/:id${path}`,
    access: 'session',
    handle,
  });
  const settings = new SettingsInOrder(conversations);
  return [
    of('PUT', '/settings', async ({ params, request }) => {
      const asked = parseOrThrow(ApplySettings, await readJson(request));
      return ok(await settings.apply(await conversations.get(params['id']), asked));
    }),
    of('POST', '/revoke_rule', async ({ params, request }) => {
      const rule = parseOrThrow(RevokeConfirmationRule, await readJson(request));
      await (await conversations.get(params['id'])).confirmation.revoke(rule);
      return ok({ success: true });
    }),
    ...earlierSettingsRoutes(conversations, settings),
  ];
}
