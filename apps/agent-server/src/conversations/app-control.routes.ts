import { AgentTerms, RevokeConfirmationRule, ToldBrake } from '@slipway/contracts';
import { parseOrThrow } from '@slipway/errors';
import { type Handler, ok, type Route, readJson } from '../http/router.js';
import type { Conversations } from './conversations.js';
import { TermsInOrder } from './terms-in-order.js';

const SUCCESS = { success: true } as const;

/** What the app says of a conversation that OpenHands' wire has no words for. */
export function appControlRoutes(conversations: Conversations): Route[] {
  const post = (path: string, handle: Handler): Route => ({ method: 'POST', path: `/api/slipway/conversations/:id${path}`, access: 'session', handle });
  const inOrder = new TermsInOrder();
  return [
    post('/terms', async ({ params, request }) => {
      const terms = parseOrThrow(AgentTerms, await readJson(request));
      await inOrder.set(await conversations.get(params['id']), terms);
      return ok(SUCCESS);
    }),
    post('/terms/check', async ({ params, request }) => {
      const terms = parseOrThrow(AgentTerms, await readJson(request));
      await (await conversations.get(params['id'])).setTerms(terms, 'check');
      return ok(SUCCESS);
    }),
    post('/brake', async ({ params, request }) => {
      await conversations.applyConfirmation(params['id'], parseOrThrow(ToldBrake, await readJson(request)));
      return ok(SUCCESS);
    }),
    post('/revoke_rule', async ({ params, request }) => {
      const rule = parseOrThrow(RevokeConfirmationRule, await readJson(request));
      await (await conversations.get(params['id'])).confirmation.revoke(rule);
      return ok(SUCCESS);
    }),
  ];
}
