import { AskAgentRequest, ForkConversationRequest, UpdateConversationRequest } from '@slipway/contracts';
import { parseOrThrow } from '@slipway/errors';
import { type Handler, ok, type Route, readJson } from '../http/router.js';
import type { Conversations } from './conversations.js';

const SUCCESS = { success: true } as const;

/** What is done to a conversation beside its task, on OpenHands' wire. */
export function conversationEditRoutes(conversations: Conversations): Route[] {
  const on = (method: Route['method'], path: string, handle: Handler): Route => ({ method, path: `/api/conversations/:id${path}`, access: 'session', handle });
  return [
    on('PATCH', '', async ({ params, request }) => {
      const change = parseOrThrow(UpdateConversationRequest, await readJson(request));
      (await conversations.get(params['id'])).describe(change);
      return ok(SUCCESS);
    }),
    on('POST', '/fork', async ({ params, request }) => {
      const wish = parseOrThrow(ForkConversationRequest, (await readJson(request)) ?? {});
      return ok((await conversations.fork(params['id'], wish)).info(), 201);
    }),
    on('POST', '/ask_agent', async ({ params, request, signal }) => {
      const { question } = parseOrThrow(AskAgentRequest, await readJson(request));
      return ok({ response: await (await conversations.get(params['id'])).askAgent(question, signal) });
    }),
    on('POST', '/condense', async ({ params }) => {
      await (await conversations.get(params['id'])).condense();
      return ok(SUCCESS);
    }),
  ];
}
