import { randomUUID } from 'node:crypto';
import { stamp } from '@slipway/agent';
import {
  AGENT_ROUTES,
  CHARGE_PASS_HEADER,
  ForkConversationRequest,
  NavigateConversationRequest,
  UpdateConversationRequest,
} from '@slipway/contracts/agent';
import { lastStatus } from '@slipway/domain';
import { parseOrThrow, SlipwayError } from '@slipway/errors';
import { type Handler, ok, type Route, readJson, serve } from '../http/router.js';
import { authorOf } from '../log/authors.js';
import { chargePassOf } from '../run/charge-pass.js';
import { forgottenAt } from '../run/way-back.js';
import type { Conversations } from './conversations.js';

const SUCCESS = { success: true } as const;
const STAMPS = { clock: { now: () => new Date() }, ids: { uuid: () => randomUUID() as string } };

/** What is done to a conversation beside its task, on OpenHands' wire. */
export function conversationEditRoutes(conversations: Conversations): Route[] {
  const on = (method: Route['method'], path: string, handle: Handler): Route => ({
    method,
    path: `/api/conversations/:id${path}`,
    access: 'session',
    handle,
  });
  return [
    on('PATCH', '', async ({ params, request }) => {
      const change = parseOrThrow(UpdateConversationRequest, await readJson(request));
      (await conversations.get(params['id'])).describe(change);
      return ok(SUCCESS);
    }),
    on('POST', '/fork', async ({ params, request }) => {
      const wanted = parseOrThrow(ForkConversationRequest, (await readJson(request)) ?? {});
      return ok((await conversations.fork(params['id'], wanted)).info(), 201);
    }),
    serve(AGENT_ROUTES.askAgent, async ({ params, request, body, signal }) => {
      const { question } = await body();
      return ok({
        response: await (await conversations.get(params['id'])).askAgent(
          question,
          chargePassOf(request.headers[CHARGE_PASS_HEADER]),
          signal,
        ),
      });
    }),
    on('POST', '/navigate', async ({ params, request, caller }) => {
      const { event_id } = parseOrThrow(NavigateConversationRequest, (await readJson(request)) ?? {});
      const conversation = await conversations.get(params['id']);
      const { log, confirmation } = conversation;
      if (lastStatus(log.events) === 'running' || confirmation.waits)
        throw new SlipwayError(
          'conversation.busy',
          'The agent works or waits for an answer: pause it, or answer, before it goes back.',
        );
      const forgotten_event_ids = forgottenAt(log.events, event_id ?? null);
      if (forgotten_event_ids.length > 0)
        await log.append([
          stamp(STAMPS, {
            kind: 'Condensation',
            source: 'user',
            forgotten_event_ids,
            summary: null,
            summary_offset: null,
            llm_response_id: '',
            ...authorOf(caller),
          }),
        ]);
      return ok(conversation.info());
    }),
    serve(AGENT_ROUTES.condense, async ({ params, request }) => {
      await (await conversations.get(params['id'])).condense(chargePassOf(request.headers[CHARGE_PASS_HEADER]));
      return ok(SUCCESS);
    }),
  ];
}
