import type { ProviderClient } from '../calls/provider-client.js';
import type { Account, Connect, OAuthApp } from '../linking/account-linking.js';

/** An app that is registered at a provider, with its credentials. Never logged. */
export interface RegisteredApp extends OAuthApp {
  /** The provider's own, which its deliveries and its acts carry. */
  readonly id: string;
  /** In addresses of its pages. */
  readonly slug: string;
  /** PEM. */
  readonly privateKey: string;
}

/** What a provider answers to a registration: the only answer that has the secrets. */
export interface NewApp extends RegisteredApp {
  readonly webhookSecret: string;
  /** Its settings, for whoever owns it. */
  readonly url: string | null;
  readonly owner: string;
}

/** A form that the admin's own browser sends to the provider: only they can register an app there. */
export interface RegistrationForm {
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
}

export interface Registration {
  readonly baseUrl: string;
  /** Login of the organization that shall own the app; `null`: the admin's own account. */
  readonly owner: string | null;
  readonly name: string;
  readonly state: string;
  /** Of Slipway. */
  readonly homeUrl: string;
  readonly deliveriesUrl: string;
  readonly registeredUrl: string;
  /** Where browsers come back to: after an installation first, then to link accounts. */
  readonly callbackUrls: readonly string[];
}

export interface GitAccount extends Account {
  readonly kind: 'organization' | 'user';
}

/** An app on the repositories of one account. */
export interface Installation {
  readonly id: string;
  /** Of the app that is installed. */
  readonly appId: string;
  readonly account: GitAccount;
  readonly repositories: 'all' | 'selected';
  readonly permissions: Readonly<Record<string, string>>;
  readonly suspended: boolean;
}

/** What a call is for; each gets the rights of its own and no other. */
export type AppStep = 'read' | 'publish' | 'threads' | 'answer' | 'rights' | 'list';

export interface InstallationToken {
  /** Opaque: GitHub alone has two forms, of 40 and of about 520 characters. */
  readonly token: string;
  readonly expiresAt: Date;
}

export interface TokenRequest {
  readonly installationId: string;
  /** `owner/name`; `null` only for `list`, which may read nothing but names. */
  readonly repository: string | null;
  readonly step: AppStep;
  /** What the installation has been given: more cannot be asked for. `null`: not known. */
  readonly granted: Readonly<Record<string, string>> | null;
}

/** One delivery that the provider has tried, of the app or of a webhook. */
export interface HookDelivery {
  /** Of this attempt. */
  readonly id: string;
  /** The same for all attempts: what the delivery itself is named by (`Provider.deliveryId`). */
  readonly deliveryId: string;
  readonly at: Date;
  readonly succeeded: boolean;
  readonly event: string;
  readonly installationId: string | null;
}

/** A provider's record of its deliveries; the newest first. */
export interface HookDeliveries {
  /** @param cursor of the page before; `null`: the first. */
  readonly list: (
    cursor: string | null,
  ) => Promise<{ readonly items: readonly HookDelivery[]; readonly next: string | null }>;
  /** Has an attempt made again, with the same delivery id. */
  readonly redeliver: (attempt: string) => Promise<void>;
}

/**
 * How apps are registered, installed and called at a provider. Each call throws `ProviderRefusal`; none is repeated
 * here.
 */
export interface AppAccess {
  readonly apiUrl: (baseUrl: string) => string;
  readonly registration: (asked: Registration) => RegistrationForm;
  /** Redeems the code of a registration, once. @param api without a credential. */
  readonly register: (api: ProviderClient, code: string) => Promise<NewApp>;
  readonly installUrl: (at: { readonly baseUrl: string; readonly slug: string; readonly state: string }) => string;
  /** Of permissions that the app asks for, those that an installation has not (fully) been given, as `name: access`. */
  readonly missing: (granted: Readonly<Record<string, string>>) => readonly string[];
  /** The value of `authorization` by which the app itself calls. Holds for minutes. */
  readonly authorization: (app: RegisteredApp, now: Date) => string;
  /** @param api with the app's own authorization, as in all that follow. */
  readonly installation: (api: ProviderClient, id: string) => Promise<Installation>;
  readonly token: (api: ProviderClient, asked: TokenRequest) => Promise<InstallationToken>;
  /** Of the user that the app acts as. @param api with a token of the step `list`. */
  readonly bot: (api: ProviderClient, app: Pick<RegisteredApp, 'slug'>) => Promise<Account>;
  /** Id of the app that the authorization belongs to: verifies a private key. */
  readonly self: (api: ProviderClient) => Promise<string>;
  /**
   * Whether the provider takes the secret for this client. @param api with the value of `authorization` that it is
   * given.
   */
  readonly takesClient: (client: OAuthApp, api: (authorization: string) => ProviderClient) => Promise<boolean>;
  readonly deliveries: (api: ProviderClient) => HookDeliveries;
  /** @param api with a token of the step `list`. */
  readonly countRepositories: (api: ProviderClient) => Promise<number>;
  readonly proof: OwnershipProof;
}

/** How a user proves ownership of an installation. */
export interface OwnershipProof {
  /** Redeems the code that came with the browser. @returns the user's token. */
  readonly redeem: (
    at: {
      readonly baseUrl: string;
      readonly app: OAuthApp;
      readonly code: string;
      readonly redirectUri?: string;
      readonly verifier?: string;
    },
    connect: Connect,
  ) => Promise<string>;
  /**
   * Installations of this app that the user's own token shows, a hundred at most. @param user with the user's token.
   */
  readonly installations: (user: ProviderClient, appId: string) => Promise<readonly Installation[]>;
  readonly whoIs: (user: ProviderClient) => Promise<Account>;
  /** Whether the user administers the account, by the provider's word of now. */
  readonly administers: (user: ProviderClient, account: GitAccount) => Promise<boolean>;
  /** Ends the user's token. */
  readonly revoke: (
    at: { readonly baseUrl: string; readonly app: OAuthApp; readonly token: string },
    connect: Connect,
  ) => Promise<void>;
}
