import { finalResponse } from '@slipway/agent';
import { AGENT_ROUTES, type AgentRoute, type ConversationInfo } from '@slipway/contracts/agent';
import { SetConfirmationPolicyRequest, SetSecurityAnalyzerRequest } from '@slipway/contracts/conversations';
import { type ConversationEvent } from '@slipway/contracts/events';
import { notFound, parseOrThrow } from '@slipway/errors';
import { currentContext } from '@slipway/telemetry';
import { type Call, type EntryCall, type Handler, ok, type Route, readJson, serve } from '../http/router.js';
import { authorOf, withAnswerer, withAuthor } from '../log/authors.js';
import { countEvents, searchEvents } from '../log/event-search.js';
import { openhandsEvent } from '../openhands/openhands-event.js';
import type { AppModelCredentials } from '../run/app-model-credentials.js';
import { secretsOf } from '../sandbox/given-secrets.js';
import { type HeldSecrets } from '../sandbox/held-secrets.js';
import type { SecretMask } from '../secrets/secret-mask.js';
import { assertOfTheApp } from '../settings/org-confirmation.js';
import type { Conversation } from './conversation.js';
import { countConversations, searchConversations } from './conversation-search.js';
import type { Conversations } from './conversations.js';

const SUCCESS = { success: true } as const;

const shownEvent = (event: ConversationEvent | undefined): ConversationEvent | undefined =>
  event === undefined ? undefined : openhandsEvent(event);

/** Ways to declare a route on a conversation: `work` is called with it, and what it returns is the answer. */
interface RoutesOnOne {
  /** Below `/api/conversations/:id`. */
  readonly on: (
    method: Route['method'],
    path: string,
    work: (conversation: Conversation, call: Call) => unknown,
  ) => Route;
  /** One that the platform calls too. */
  readonly of: <Entry extends AgentRoute>(
    entry: Entry,
    work: (conversation: Conversation, call: EntryCall<Entry>) => unknown,
  ) => Route;
}

/** `/api/conversations…` on OpenHands' wire. */
export function conversationRoutes(
  conversations: Conversations,
  held: HeldSecrets,
  mask: SecretMask,
  models: AppModelCredentials,
): Route[] {
  const routes = routesOnOne(conversations);
  return [
    startRoute(conversations, models),
    ...listRoutes(conversations),
    routes.of(AGENT_ROUTES.conversation, (conversation) => conversation.info()),
    session('DELETE', '/:id', async ({ params }) => {
      await conversations.remove(params['id']);
      return ok(SUCCESS);
    }),
    ...runRoutes(routes, conversations),
    ...settingRoutes(routes),
    ...inputRoutes(routes, conversations),
    routes.on('POST', '/secrets', async (_conversation, call) => {
      held.add(await secretsOf(call, { conversations, held, mask }));
      return SUCCESS;
    }),
    ...eventRoutes(routes),
  ];
}

function session(method: Route['method'], path: string, handle: Handler): Route {
  return { method, path: `/api/conversations${path}`, access: 'session', handle };
}

function routesOnOne(conversations: Conversations): RoutesOnOne {
  const conversationOf = async ({ params }: Call): Promise<Conversation> => {
    const conversation = await conversations.get(params['id']);
    const context = currentContext();
    if (context !== undefined) context.conversationId = conversation.id;
    return conversation;
  };
  return {
    on: (method, path, work) =>
      session(method, `/:id${path}`, async (call) => ok(await work(await conversationOf(call), call))),
    of: (entry, work) => serve(entry, async (call) => ok(await work(await conversationOf(call), call))),
  };
}

function startRoute(conversations: Conversations, models: AppModelCredentials): Route {
  return serve(AGENT_ROUTES.startConversation, async ({ body, caller }) => {
    const asked = await body();
    assertOfTheApp(caller, asked);
    const wanted = models.withCredentials(asked);
    const { conversation, created } = await conversations.start(wanted, authorOf(caller));
    models.remember(wanted);
    return ok(conversation.info(), created ? 201 : 200);
  });
}

function listRoutes(conversations: Conversations): Route[] {
  const infos = async (): Promise<ConversationInfo[]> => (await conversations.list()).map((each) => each.info());
  return [
    session('GET', '/search', async ({ query }) => ok(searchConversations(await infos(), query))),
    session('GET', '/count', async ({ query }) => ok(countConversations(await infos(), query))),
    session('GET', '', async ({ query }) => {
      const found = query.getAll('ids').map((id) =>
        conversations
          .get(id)
          .then((conversation) => conversation.info())
          .catch(() => null),
      );
      return ok(await Promise.all(found));
    }),
  ];
}

function runRoutes({ of }: RoutesOnOne, { orgConfirmation }: Conversations): Route[] {
  return [
    of(AGENT_ROUTES.run, async (conversation, { caller }) => {
      // A run accepts nothing. OpenHands' clients mean a yes by it: theirs is made the one that names who said it.
      if (conversation.confirmation.waits && orgConfirmation.takesRunForYes(caller, conversation.isOfTheApp))
        await conversation.respond(withAnswerer(caller, { accept: true, reason: '' }));
      else conversation.run();
      return SUCCESS;
    }),
    of(AGENT_ROUTES.pause, async (conversation) => {
      await conversation.pause();
      return SUCCESS;
    }),
    of(AGENT_ROUTES.interrupt, async (conversation) => {
      await conversation.interrupt();
      return SUCCESS;
    }),
  ];
}

function settingRoutes({ on, of }: RoutesOnOne): Route[] {
  return [
    of(AGENT_ROUTES.switchLlm, async (conversation, { body }) => {
      conversation.switchLlm((await body()).llm);
      return SUCCESS;
    }),
    on('POST', '/confirmation_policy', async (conversation, { request }) => {
      await conversation.confirmation.setPolicy(
        parseOrThrow(SetConfirmationPolicyRequest, await readJson(request)).policy,
      );
      return SUCCESS;
    }),
    on('POST', '/security_analyzer', async (conversation, { request }) => {
      await conversation.confirmation.setAnalyzer(
        parseOrThrow(SetSecurityAnalyzerRequest, await readJson(request)).security_analyzer,
      );
      return SUCCESS;
    }),
  ];
}

/** Answers and messages of users. */
function inputRoutes({ of }: RoutesOnOne, { orgConfirmation }: Conversations): Route[] {
  return [
    of(AGENT_ROUTES.respondToConfirmation, async (conversation, { body, caller }) => {
      const answer = await body();
      orgConfirmation.assertMayAnswer(caller);
      const answer_id = await conversation.respond(withAnswerer(caller, answer));
      return { ...SUCCESS, answer_id };
    }),
    of(AGENT_ROUTES.sendEvent, async (conversation, { body, caller }) => {
      const message = withAuthor(caller, await body());
      orgConfirmation.assertKnown(caller);
      await conversation.send(message);
      return SUCCESS;
    }),
  ];
}

function eventRoutes({ on }: RoutesOnOne): Route[] {
  return [
    on('GET', '/agent_final_response', (conversation) => ({ response: finalResponse(conversation.log.events) })),
    on('GET', '/events/search', (conversation, { query }) => searchEvents(conversation.log, query)),
    on('GET', '/events/count', (conversation, { query }) => countEvents(conversation.log, query)),
    on('GET', '/events', ({ log }, { query }) =>
      query.getAll('event_ids').map((id) => shownEvent(log.events[log.indexOf(id)]) ?? null),
    ),
    on('GET', '/events/:event', (conversation, { params }) => {
      const event = shownEvent(conversation.log.events[conversation.log.indexOf(params['event'] ?? '')]);
      if (event === undefined) throw notFound();
      return event;
    }),
  ];
}
