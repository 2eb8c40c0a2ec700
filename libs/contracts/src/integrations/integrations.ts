import { z } from 'zod';
import { PageQuery, pageOf } from '../conversations/conversations.js';
import { GitHost } from '../secrets/secrets.js';
import { AppHook, ConnectionCredential } from './connection-authorization.js';
import { ConnectionApp } from './integration-apps.js';

/** An organization's connections to providers (GitHub, Slack, …), and the log of what they delivered. */

/** Most connections of one organization. */
export const MAX_CONNECTIONS = 100;
/** How long a webhook secret that was replaced is still taken. Hours. */
export const OLD_SECRET_HOURS = 24;
/** How long deliveries are kept, and repeated ones recognized. Days; longer than any provider repeats one. */
export const DELIVERY_DAYS = 14;

const id = z.string().min(1).max(200);
const word = z.string().trim().min(1).max(100);

/** Who we are at the provider, by its own ids: deliveries about our own acts start nothing. */
export const OwnIdentity = z.strictObject({
  ids: z.array(id).max(20).default([]),
  /** Without `@`, as people write it to mention us. */
  mention: z
    .string()
    .max(100)
    .regex(/^[\w][\w.-]*$/, 'is a name without @ and blanks')
    .default('slipway'),
});
export type OwnIdentity = z.infer<typeof OwnIdentity>;

/**
 * What is done in a thread, and with its ticket, as its conversation goes on. Each is done once, and stays to be done
 * while the provider is away.
 */
export const ThreadProcessors = z.strictObject({
  /** A reaction to what asked. */
  reaction: z.boolean().default(true),
  /** The progress comment or message. Agent sessions are always answered. */
  comment: z.boolean().default(true),
  /** The conversation and its pull requests as links of the ticket. */
  link: z.boolean().default(true),
  /** The ticket is moved to the first state of work when work on it begins. */
  start: z.boolean().default(true),
  /** Whether the ticket is moved to the first state that is done, and when. */
  done: z.enum(['never', 'merged']).default('never'),
});
export type ThreadProcessors = z.infer<typeof ThreadProcessors>;
export const DEFAULT_PROCESSORS: ThreadProcessors = ThreadProcessors.parse({});

/** Most places of one connection that have a repository of their own. */
export const MAX_PLACE_REPOSITORIES = 200;
const repositoryUrl = z.url({ protocol: /^https?$/ }).max(2048);
/** A place at the provider, such as a channel, a project or a team, and the repository that is meant there. */
export const PlaceRepository = z.strictObject({ place: id, repository: repositoryUrl });
export type PlaceRepository = z.infer<typeof PlaceRepository>;

export const ConnectionSettings = z.strictObject({
  /** Labels that start a conversation; compared without case. */
  labels: z.array(word).max(20).default(['slipway']),
  /** Bots that are heard, by the provider's ids. */
  bots: z.array(id).max(50).default([]),
  /** Confidential issues and notes are read too. */
  confidential: z.boolean().default(false),
  /** Where nothing else names a repository: its URL. */
  defaultRepository: repositoryUrl.nullable().default(null),
  /**
   * Where nothing else names a repository, by the place at the provider: before the default one. The first that fits
   * counts.
   */
  repositories: z.array(PlaceRepository).max(MAX_PLACE_REPOSITORIES).default([]),
  /**
   * Where a git host's pages are, if not at `https://` and `host`: another path, or http inside of a network. Its host
   * is the connection's.
   */
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .max(500)
    .regex(/^[^?#]*$/, 'has no query and no fragment')
    .transform((url) => url.replace(/\/+$/, ''))
    .nullable()
    .default(null),
  /**
   * Of a git host: whether what a thread there asked for is published when the agent has finished, or on request only.
   */
  publish: z.enum(['automatic', 'offered']).default('automatic'),
  processors: ThreadProcessors.prefault({}),
  /** Of a git host: whether Slipway has failed checks of its pull requests fixed by itself, or offers it. */
  fixChecks: z.enum(['automatic', 'offered']).default('offered'),
  /** Most rounds that it makes by itself on one pull request. */
  fixRounds: z.int().min(1).max(10).default(2),
});
export type ConnectionSettings = z.infer<typeof ConnectionSettings>;

/** `unverified`: nothing that holds was delivered yet. `disabled`: what comes is kept and not acted on. */
export const CONNECTION_STATES = ['unverified', 'active', 'needs-attention', 'disabled'] as const;
export const ConnectionState = z.enum(CONNECTION_STATES);
export type ConnectionState = z.infer<typeof ConnectionState>;

export const IntegrationProvider = z.object({
  id: z.string(),
  name: z.string(),
  does: z.array(z.enum(['code', 'tickets', 'chat'])),
  /** `null`: each connection says where it is. */
  host: z.string().nullable(),
  /**
   * A connection takes an access token: with it the provider is asked who may write, and is answered in its threads.
   */
  takesToken: z.boolean(),
  /** Slipway can make webhooks of repositories there by itself. */
  makesHooks: z.boolean(),
  /** The best first. */
  connections: z.array(z.object({ kind: z.string(), name: z.string(), signature: z.string() })),
  /** Users can link their accounts there, once a connection has an OAuth client. */
  linking: z.boolean().default(false),
  /** What of a thread can have a repository of its own there; `null`: its threads name theirs. */
  places: z.enum(['channel', 'project', 'team']).nullable().default(null),
  /** Abilities of a connection in threads, by the names of `ThreadProcessors`. */
  processors: z.array(z.enum(['reaction', 'comment', 'link', 'start', 'done'])).default([]),
  /**
   * `own`: an admin can register an app of the organization there. `platform`: the operator has registered one, which
   * can be installed.
   */
  apps: z.array(z.enum(['own', 'platform'])).default([]),
  /** A connection can obtain its credential by OAuth, once it has an OAuth client. */
  authorizes: z.boolean().default(false),
});
export type IntegrationProvider = z.infer<typeof IntegrationProvider>;
export const IntegrationProviderList = z.object({ data: z.array(IntegrationProvider) });
export type IntegrationProviderList = z.infer<typeof IntegrationProviderList>;

export const IntegrationConnection = z.object({
  id: z.string(),
  provider: z.string(),
  kind: z.string(),
  name: z.string(),
  host: z.string(),
  /** Installation, team or organization at the provider. */
  account: z.string().nullable(),
  /** The scheme that deliveries must be signed by; no other is taken. */
  signature: z.string(),
  /**
   * What to enter at the provider; `null`: deliveries come to the platform's own app, or over a socket that Slipway
   * opens.
   */
  address: z.string().nullable(),
  own: OwnIdentity,
  settings: ConnectionSettings,
  /** When the access token was entered; `null`: there is none, and the provider cannot be asked. It is never shown. */
  tokenSetAt: z.iso.datetime().nullable(),
  /** When the OAuth client was entered by which users link their accounts; `null`: there is none. */
  oauthClientSetAt: z.iso.datetime().nullable().default(null),
  /** The app that it is by; `null`: it is by webhook and access token. */
  app: ConnectionApp.nullable().default(null),
  /** `null`: there is none, and the provider cannot be asked. Its value is never shown. */
  credential: ConnectionCredential.nullable().default(null),
  /** The connection can obtain its credential by OAuth. */
  authorizes: z.boolean().default(false),
  /** `null`: its provider has none, or none was searched for yet. */
  appHook: AppHook.nullable().default(null),
  state: ConnectionState,
  /** With `needs-attention`: why, in a sentence. */
  stateReason: z.string().nullable(),
  /** Until then the webhook secret before the present one is taken too. */
  oldSecretUntil: z.iso.datetime().nullable(),
  verifiedAt: z.iso.datetime().nullable(),
  lastDeliveryAt: z.iso.datetime().nullable(),
  createdBy: z.object({ id: z.string(), label: z.string() }),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});
export type IntegrationConnection = z.infer<typeof IntegrationConnection>;
/** By name; there is always one page. */
export const IntegrationConnectionList = z.object({ data: z.array(IntegrationConnection) });
export type IntegrationConnectionList = z.infer<typeof IntegrationConnectionList>;

/** Short ones can be guessed from one delivery. Characters. */
const MIN_WEBHOOK_SECRET = 16;
const webhookSecret = z
  .string()
  .min(MIN_WEBHOOK_SECRET)
  .max(500)
  .regex(/^[\x21-\x7e]+$/, 'has printable characters and no blanks');

/** Of a git host: what its API is called with. Never shown again. */
const accessToken = z
  .string()
  .trim()
  .min(8)
  .max(4_000)
  .regex(/^[\x21-\x7e]+$/, 'has printable characters and no blanks');

export const CreateIntegrationConnection = z.strictObject({
  provider: z.string().min(1).max(50),
  /** One of the provider's `connections`; not given: its best. */
  kind: z.string().min(1).max(50).optional(),
  name: word,
  /** Required where the provider has no host of its own. */
  host: GitHost.optional(),
  account: id.optional(),
  /** The signing secret that the provider made. Not given: one is made, to be entered there. */
  webhookSecret: webhookSecret.optional(),
  /** For git hosts: with it the provider is asked who may write. One that may read the members of the repositories. */
  token: accessToken.optional(),
  own: OwnIdentity.prefault({}),
  settings: ConnectionSettings.prefault({}),
});
export type CreateIntegrationConnection = z.infer<typeof CreateIntegrationConnection>;

/** What is left out stays. */
export const UpdateIntegrationConnection = z.strictObject({
  name: word.optional(),
  account: id.nullable().optional(),
  own: OwnIdentity.optional(),
  settings: ConnectionSettings.optional(),
  /** Replaces the access token; `null` removes it. */
  token: accessToken.nullable().optional(),
  /** True: what comes is kept and not acted on. False: as before. */
  disabled: z.boolean().optional(),
});
export type UpdateIntegrationConnection = z.infer<typeof UpdateIntegrationConnection>;

export const RotateWebhookSecret = z.strictObject({
  /** The one that the provider made. Not given: one is made. */
  webhookSecret: webhookSecret.optional(),
});
export type RotateWebhookSecret = z.infer<typeof RotateWebhookSecret>;

/** Of a connection that was made, or whose secret was replaced: the only answer that has the secret. */
export const ConnectionWithSecret = z.object({
  connection: IntegrationConnection,
  /** `null`: the caller brought it. */
  webhookSecret: z.string().nullable(),
});
export type ConnectionWithSecret = z.infer<typeof ConnectionWithSecret>;

/** Why a delivery was or was not acted on, as a sentence. */
export const DELIVERY_REASONS = {
  // Ignored: it asks for nothing.
  'event-not-followed': 'Events of this kind are not followed.',
  'no-trigger': 'Nothing in it starts or continues a conversation: no label, mention or assignment.',
  'own-act': 'It reports what Slipway did itself.',
  bot: 'It comes from a bot that is not on the list of the connection.',
  edited: 'An edit that adds no mention.',
  deleted: 'It reports a deletion.',
  'quoted-only': 'Slipway is mentioned in a quotation or code only.',
  closed: 'The issue or pull request is closed.',
  'system-note': 'The provider wrote this note itself.',
  'confidential-off': 'It is confidential, and the connection does not read confidential issues.',
  unreadable: 'The body has not the form that the provider documents.',
  'connection-test': 'A test by the provider: the connection works.',
  'connection-changed': 'It reports a change of the connection itself.',
  'outcome-reported': 'It reports the state of a pull request or of checks.',
  'same-deed': 'Another delivery of the same deed was acted on already.',
  'thread-muted': 'The thread is muted.',
  // Refused: it asks for something that may not happen.
  'connection-disabled': 'The connection is disabled.',
  'organization-closing': 'The organization waits for its deletion.',
  'other-installation': 'It is about another installation than the one of the connection.',
  'not-confirmed': 'Its signature does not cover what it says, and the provider does not confirm it.',
  'not-installed': 'No administrator of the account has confirmed the installation yet.',
  'actor-foreign': 'The actor is a guest, or of another workspace.',
  'actor-not-linked': 'The actor has not linked their account with a Slipway user.',
  'actor-not-member': 'The linked user is no member of the organization.',
  'actor-not-allowed': 'The role of the linked user does not allow conversations.',
  'over-budget': 'The budget of the user or of the organization is used up.',
  'no-write-access': 'The actor may not write to the repository at the provider.',
  'other-account': 'The login belongs to another account at the provider now.',
  'permission-unknown': 'The provider has not said whether the actor may write, so nothing is started.',
  'nothing-to-stop': 'There is no conversation of this thread to stop.',
  'nothing-to-choose': 'This choice is not open any more, or was made already.',
  'choice-of-another': 'Only whoever asked chooses the repository.',
  'answered-already': 'What was answered here no longer waits, or is not what was shown.',
  'four-eyes':
    'In this organization users cannot approve actions of their own agents: another user has to, maybe on the page.',
  'second-factor':
    'This organization asks for a second factor, which a button in a thread does not: it has to be approved in Slipway.',
  'answer-late': 'The answer could not be given to the agent in time. It can be given again.',
  'queue-full': 'As many messages as can be wait in the conversation already.',
  // Not decided yet.
  'provider-away': 'The provider does not answer or limits calls; it is asked again.',
  // Done.
  'conversation-started': 'A conversation was started.',
  'repository-asked': 'No repository is set for the place, so the actor was asked for one.',
  'message-added': 'A message was added to the conversation of the thread.',
  'run-stopped': 'The agent was stopped.',
  approved: 'The user approved what the agent waited with.',
  rejected: 'The user rejected what the agent waited with.',
  muted: 'The thread was muted.',
} as const satisfies Record<string, string>;
export type DeliveryReason = keyof typeof DELIVERY_REASONS;
export const DeliveryReason = z.enum(Object.keys(DELIVERY_REASONS) as [DeliveryReason, ...DeliveryReason[]]);

/** `received`: not decided yet. */
export const DELIVERY_STATES = ['received', 'done', 'ignored', 'refused'] as const;
export const DeliveryState = z.enum(DELIVERY_STATES);
export type DeliveryState = z.infer<typeof DeliveryState>;

export const IntegrationDelivery = z.object({
  id: z.uuid(),
  connectionId: z.string(),
  /** The provider's own id of it, or `sha256:` and the hash of its bytes. */
  deliveryId: z.string(),
  /** `header-event.action`, as the provider names it. */
  event: z.string(),
  /** Of the raw body. */
  bytes: z.int().nonnegative(),
  receivedAt: z.iso.datetime(),
  state: DeliveryState,
  /** Code and sentence. While `received`: why it waits, or `null`. */
  reason: z.object({ code: DeliveryReason, text: z.string(), detail: z.string().nullable() }).nullable(),
  /** The same for every delivery of the same deed. */
  semanticKey: z.string().nullable(),
  conversationId: z.uuid().nullable(),
  /** When it was asked for again, since it had not come by itself; `null`: it came by itself. */
  recoveredAt: z.iso.datetime().nullable().default(null),
  /** How often it was checked. */
  attempts: z.int().nonnegative(),
  decidedAt: z.iso.datetime().nullable(),
});
export type IntegrationDelivery = z.infer<typeof IntegrationDelivery>;
export const IntegrationDeliveryPage = pageOf(IntegrationDelivery);
export type IntegrationDeliveryPage = z.infer<typeof IntegrationDeliveryPage>;
export const ListDeliveriesQuery = PageQuery.extend({ state: DeliveryState.optional() });
export type ListDeliveriesQuery = z.infer<typeof ListDeliveriesQuery>;

/** Most of a body that is shown. Characters. */
export const MAX_SHOWN_BODY = 1_000_000;
export const IntegrationDeliveryContent = IntegrationDelivery.extend({
  /** Without signatures, credentials and cookies. */
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  /** As it was sent; cut at 1,000,000 characters. */
  body: z.string(),
  bodyCut: z.boolean(),
});
export type IntegrationDeliveryContent = z.infer<typeof IntegrationDeliveryContent>;

/** What a delivery would come to now. Nothing is acted on, written or asked of the provider. */
export const DeliveryDryRun = z.object({
  /** What was read in the delivery: an intent with its trigger, actor and thread, or why there is none. */
  reading: z.record(z.string(), z.unknown()),
  decision: z.object({
    state: DeliveryState,
    code: DeliveryReason,
    text: z.string(),
    detail: z.string().nullable(),
  }),
  /** Who the actor is here. */
  user: z.object({ id: z.string(), label: z.string() }).nullable(),
  /** Of the thread it belongs to. */
  conversationId: z.uuid().nullable(),
});
export type DeliveryDryRun = z.infer<typeof DeliveryDryRun>;
