import type { AnswerAccess } from './answers/thread-answers.js';
import type { AppHooks } from './app-hooks/app-hooks.js';
import type { AppAccess, HookDeliveries } from './apps/app-access.js';
import type { CodeHost } from './calls/code-host.js';
import type { DeliveryRereading } from './calls/delivery-rereading.js';
import type { ProviderClient } from './calls/provider-client.js';
import type { RepositoryHooks } from './calls/repository-hooks.js';
import type { RightsAccess } from './calls/rights-access.js';
import type { SocketAccess } from './calls/socket-access.js';
import type { ThreadReading } from './calls/thread-reading.js';
import type { ConnectionOAuth } from './credentials/connection-oauth.js';
import type { ReadDelivery } from './delivery.js';
import type { Actor, Intent, Reading, Thread } from './intent.js';
import type { AccountLinking } from './linking/account-linking.js';
import type { SignatureScheme } from './signatures/scheme.js';

/** Our own account at a provider, by its ids: distinguishes our own acts from those of users. */
export interface OwnIdentity {
  /**
   * Of the bot's user, of the app or of the app's user in that workspace; compared with the actor and with what the
   * provider says about the app.
   */
  readonly ids: readonly string[];
  /** Without `@`, as people write it to mention us. */
  readonly mention: string;
}

/** What a connection lets its provider read deliveries with. */
export interface ReadingContext {
  readonly own: OwnIdentity;
  /** Names of labels that start a conversation; compared without case. */
  readonly labels: readonly string[];
  /** Bots that are heard, by the provider's ids. */
  readonly bots: readonly string[];
  /** Confidential issues and notes are read (GitLab); off by default. */
  readonly confidential: boolean;
  /** Whether we already talk in a thread: a reply there needs no mention. */
  readonly ours: (threadKey: string) => boolean;
}

/**
 * How the tenant is found: by the connection of the address, or by what the signed body says of an installation of the
 * one platform-wide app.
 */
export interface TenantOfBody {
  /** Installation, team or organization id. `null`: the body names none. */
  readonly account: (delivery: ReadDelivery) => string | null;
}

/** Every fact about one provider that is known without asking it. No other file compares provider names. */
export interface Provider {
  readonly id: string;
  /** As people write it. */
  readonly name: string;
  /** `code`: repositories and pull requests. `tickets`, `chat`: where work is asked for. */
  readonly does: readonly ('code' | 'tickets' | 'chat')[];
  /** Where it is; `null`: each connection says so. */
  readonly host: string | null;
  /** What an admin can connect by, the best first. */
  readonly connections: readonly { readonly kind: string; readonly name: string; readonly signature: string }[];
  /** By name, the strongest first. A connection requires one of them: never any of them, which would be a downgrade. */
  readonly signatures: Readonly<Record<string, SignatureScheme>>;
  /** Longest body. Bytes; more is refused while it is read. */
  readonly maxBytes: number;
  /** A form with one field `payload` is taken beside JSON. */
  readonly form: boolean;
  readonly tenant: TenantOfBody;
  /**
   * Unique for each delivery, the same when it is sent again. `null`: it names itself by nothing, and its bytes are its
   * name.
   */
  readonly deliveryId: (delivery: ReadDelivery) => string | null;
  /** `event.action`, for the log and for filters. */
  readonly eventName: (delivery: ReadDelivery) => string;
  /** Never throws: what cannot be understood is `ignored`. */
  readonly read: (delivery: ReadDelivery, context: ReadingContext) => Reading;
  /** How deliveries are reread whose signature does not cover the body; missing where each covers its body. */
  readonly rereading?: DeliveryRereading;
  /** What it is called for as a git host; missing where it is none, or is not called yet. */
  readonly codeHost?: CodeHostAccess;
  /** How it is asked who may write; missing where it has no repositories, or is not asked yet. */
  readonly rights?: RightsAccess;
  /** How users authenticate there; missing where that is not built yet. */
  readonly linking?: AccountLinking;
  /** How an app of it is registered, installed and called; missing where there is none, or it is not built yet. */
  readonly apps?: AppAccess;
  /** How a connection obtains its credential by OAuth; missing where it cannot. */
  readonly oauth?: ConnectionOAuth;
  /** Kind of the access tokens that admins enter, where the provider shows it; missing where it does not. */
  readonly tokens?: EnteredTokens;
  /** Webhooks of its apps, where they end by themselves. */
  readonly appHooks?: AppHooks;
  /** How it delivers over a socket that we open; missing where it does not. */
  readonly sockets?: SocketAccess;
  /** How its threads are answered; missing where they are not yet. */
  readonly answers?: AnswerAccess;
  /**
   * Parts of it that can have a repository of their own, and in which of them a thread is; missing where threads name
   * their repository.
   */
  readonly places?: PlacesOf;
  /** How a repository is chosen in its threads; missing where it has nothing to choose with. */
  readonly choice?: RepositoryChoice;
  /** Reads the other messages of a thread; missing where a delivery has the whole request. */
  readonly threads?: ThreadReading;
}

/** What a thread at a git host is about. */
export interface ThreadSubject {
  readonly number: number;
  /** `null`: the place does not say, and the host is to be asked. */
  readonly kind: 'issue' | 'pull-request' | null;
}

/**
 * The value of a choice that wants no repository. Others are the first 8 letters of a connection's id, a blank, and
 * `owner/name`.
 */
export const NO_REPOSITORY = 'none';

/** A choice of ours in a message, whose options are requested while the user types. */
export interface RepositoryChoice {
  /**
   * What a delivery asks suggestions for, and for whom; `null`: it is another one. Such a delivery is answered at once
   * and not kept.
   */
  readonly suggestsFor: (delivery: ReadDelivery) => { readonly typed: string; readonly actor: Actor } | null;
  /** The answer to it, as JSON. */
  readonly suggestions: (options: readonly { readonly label: string; readonly value: string }[]) => object;
  /** The value that was chosen, by an intent of its provider; `null`: it chooses no repository. */
  readonly chosen: (intent: Intent) => string | null;
}

export interface PlacesOf {
  readonly kind: 'channel' | 'project' | 'team';
  /** Names and ids by which an admin may have written it down. */
  readonly of: (place: Thread['place']) => readonly (string | number | undefined)[];
}

/** A provider's answer about an access token made there. */
export interface EnteredTokens {
  /** What Slipway needs, by the provider's names of grants. */
  readonly scopes: readonly string[];
  /** One call. @throws ProviderRefusal `credential` for a token that is worth nothing any more. */
  readonly inspect: (api: ProviderClient) => Promise<TokenFacts>;
}

export interface TokenFacts {
  /** `null`: it has none, or the provider does not say. */
  readonly expiresAt: Date | null;
  readonly scopes: readonly string[] | null;
}

export interface CodeHostAccess {
  /** The value of `authorization` for an access token. */
  readonly authorization: (token: string) => string;
  /** The user name that goes with an access token as password, where git itself is spoken. */
  readonly gitUser: string;
  /** A user's commit address that reveals no mailbox. @param host of the connection. */
  readonly noreply: (account: { readonly id: string; readonly login: string }, host: string) => string;
  /** Of the API of the instance whose pages are at `baseUrl`; neither ends with a slash. */
  readonly apiUrl: (baseUrl: string) => string;
  readonly calls: (client: ProviderClient) => CodeHost;
  /**
   * Where a repository keeps its own text for pull requests, the first that is there counts. In lower case: hosts take
   * them in any.
   */
  readonly pullRequestTemplates: readonly string[];
  /** `null`: a place that another provider has made. */
  readonly subjectOf: (place: Thread['place']) => ThreadSubject | null;
  /** Webhooks of single repositories; missing where Slipway makes none yet. */
  readonly hooks?: (client: ProviderClient) => RepositoryHooks;
  /** The host's record of such a webhook's deliveries; missing where it has none, or is not asked yet. */
  readonly hookDeliveries?: (
    client: ProviderClient,
    hook: { readonly repository: string; readonly id: string },
  ) => HookDeliveries;
}
