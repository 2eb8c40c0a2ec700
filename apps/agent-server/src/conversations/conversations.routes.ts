import { finalResponse } from '@slipway/agent';
import { AGENT_ROUTES, type AgentRoute } from '@slipway/contracts/agent';
import { SetConfirmationPolicyRequest, SetSecurityAnalyzerRequest } from '@slipway/contracts/conversations';
import { type ConversationEvent } from '@slipway/contracts/events';
import { notFound, parseOrThrow } from '@slipway/errors';
import { currentContext } from '@slipway/telemetry';
import { z } from 'zod';
import { type Call, type EntryCall, type Handler, ok, type Route, readJson, serve } from '../http/router.js';
import { authorOf, withAnswerer, withAuthor } from '../log/authors.js';
import { countEvents, searchEvents } from '../log/event-search.js';
import { openhandsEvent } from '../openhands/openhands-event.js';
import type { AppModelCredentials } from '../run/app-model-credentials.js';
import type { HeldSecrets } from '../sandbox/held-secrets.js';
import { heldSecretAt, LookupSecret, lookUp } from '../sandbox/lookup-secret.js';
import { credentialsIn } from '../sandbox/mcp-secrets.js';
import type { SecretMask } from '../secrets/secret-mask.js';
import { assertOfTheApp } from '../settings/org-confirmation.js';
import type { Conversation } from './conversation.js';
import { countConversations, searchConversations } from './conversation-search.js';
import type { Conversations } from './conversations.js';

const SUCCESS = { success: true } as const;

/** A value, or one of OpenHands' wrappers around it, or where to look it up. */
const Secrets = z.looseObject({
  secrets: z.record(
    z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not the name of a variable'),
    z.union([
      z.string(),
      LookupSecret,
      z.looseObject({ kind: z.literal('StaticSecret').optional(), value: z.string() }),
    ]),
  ),
});

const isLookup = (secret: object): secret is LookupSecret => (secret as { kind?: unknown }).kind === 'LookupSecret';

const shownEvent = (event: ConversationEvent | undefined): ConversationEvent | undefined =>
  event === undefined ? undefined : openhandsEvent(event);

/** A route below `/api/conversations/:id`; what `work` returns is the answer. */
type RouteOnOne = (
  method: Route['method'],
  path: string,
  work: (conversation: Conversation, call: Call) => unknown,
) => Route;

/** `/api/conversations…` on OpenHands' wire. */
export function conversationRoutes(
  conversations: Conversations,
  held: HeldSecrets,
  mask: SecretMask,
  models: AppModelCredentials,
): Route[] {
  const session = (method: Route['method'], path: string, handle: Handler): Route => ({
    method,
    path: `/api/conversations${path}`,
    access: 'session',
    handle,
  });
  const conversationOf = async ({ params }: Call): Promise<Conversation> => {
    const conversation = await conversations.get(params['id']);
    const context = currentContext();
    if (context !== undefined) context.conversationId = conversation.id;
    return conversation;
  };
  const on: RouteOnOne = (method, path, work) =>
    session(method, `/:id${path}`, async (call) => ok(await work(await conversationOf(call), call)));
  const of = <Entry extends AgentRoute>(
    entry: Entry,
    work: (conversation: Conversation, call: EntryCall<Entry>) => unknown,
  ): Route => serve(entry, async (call) => ok(await work(await conversationOf(call), call)));

  return [
    serve(AGENT_ROUTES.startConversation, async ({ body, caller }) => {
      const asked = await body();
      assertOfTheApp(caller, asked);
      const wanted = models.withCredentials(asked);
      const { conversation, created } = await conversations.start(wanted, authorOf(caller));
      models.remember(wanted);
      return ok(conversation.info(), created ? 201 : 200);
    }),
    session('GET', '/search', async ({ query }) =>
      ok(
        searchConversations(
          (await conversations.list()).map((each) => each.info()),
          query,
        ),
      ),
    ),
    session('GET', '/count', async ({ query }) =>
      ok(
        countConversations(
          (await conversations.list()).map((each) => each.info()),
          query,
        ),
      ),
    ),
    session('GET', '', async ({ query }) => {
      const found = query.getAll('ids').map((id) =>
        conversations
          .get(id)
          .then((conversation) => conversation.info())
          .catch(() => null),
      );
      return ok(await Promise.all(found));
    }),
    of(AGENT_ROUTES.conversation, (conversation) => conversation.info()),
    session('DELETE', '/:id', async ({ params }) => {
      await conversations.remove(params['id']);
      return ok(SUCCESS);
    }),
    of(AGENT_ROUTES.run, async (conversation, { caller }) => {
      // A run accepts nothing. OpenHands' clients mean a yes by it: theirs is made the one that names who said it.
      if (
        conversation.confirmation.waits &&
        conversations.orgConfirmation.takesRunForYes(caller, conversation.isOfTheApp)
      )
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
    of(AGENT_ROUTES.respondToConfirmation, async (conversation, { body, caller }) => {
      const answer = await body();
      conversations.orgConfirmation.assertMayAnswer(caller);
      const answer_id = await conversation.respond(withAnswerer(caller, answer));
      return { ...SUCCESS, answer_id };
    }),
    on('POST', '/secrets', async (_conversation, call) => {
      held.add(await secretsOf(call, { conversations, held, mask }));
      return SUCCESS;
    }),
    of(AGENT_ROUTES.sendEvent, async (conversation, { body, caller }) => {
      const message = withAuthor(caller, await body());
      conversations.orgConfirmation.assertKnown(caller);
      await conversation.send(message);
      return SUCCESS;
    }),
    on('GET', '/agent_final_response', (conversation) => ({ response: finalResponse(conversation.log.events) })),
    ...eventRoutes(on),
  ];
}

function eventRoutes(on: RouteOnOne): Route[] {
  return [
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

/** The values of the secrets that a caller gives: as they are, held here already, or looked up. */
async function secretsOf(
  { request, signal }: Pick<Call, 'request' | 'signal'>,
  {
    conversations,
    held,
    mask,
  }: { readonly conversations: Conversations; readonly held: HeldSecrets; readonly mask: SecretMask },
): Promise<Record<string, string>> {
  const { secrets } = parseOrThrow(Secrets, await readJson(request));
  const hosts = [request.headers.host, String(request.headers['x-forwarded-host'] ?? '')];
  const ids = new Set((await conversations.list()).map(({ id }) => id));
  const found = Object.entries(secrets).map(async ([name, secret]) => {
    if (typeof secret === 'string') return [name, secret] as const;
    if (!isLookup(secret)) return [name, secret.value] as const;
    const here = heldSecretAt(secret.url, hosts, (id) => ids.has(id.toLowerCase()));
    const value = here === null ? undefined : held.value(here);
    if (value !== undefined) return [name, value] as const;
    // What is no credential, such as a media type, must stay readable everywhere else.
    mask.add(credentialsIn({ [name]: { enabled: true, headers: secret.headers ?? {} } }));
    return [name, await lookUp(name, secret, signal)] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}
