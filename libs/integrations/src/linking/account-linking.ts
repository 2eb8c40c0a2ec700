import type { ProviderClient } from '../calls/provider-client.js';
import type { Approval } from './approval.js';

/** A user's identity at a provider. */
export interface Account {
  /** The provider's own: it stays when the login changes hands. */
  readonly id: string;
  readonly login: string;
}

/** The application at the provider that asks. */
export interface OAuthApp {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** A client of one API of the provider. @param baseUrl without a slash at its end. */
export type Connect = (baseUrl: string, authorization: string | null) => ProviderClient;

/** Where a provider asks for consent, and where it takes the code. */
export interface OAuthEndpoints {
  readonly authorize: string;
  readonly token: { readonly baseUrl: string; readonly path: string; readonly format: 'form' | 'json' };
}

export interface LinkedAt {
  readonly baseUrl: string;
  /** Of the connection, as the provider names it; `null`: not known. */
  readonly workspace: string | null;
}

/**
 * OAuth 2.0 with an authorization code and PKCE (S256), as one provider has it; one that knows no PKCE ignores it.
 * `baseUrl` is where its pages are, without a slash at its end.
 */
export interface AccountLinking {
  /** Minimal scope by which the provider identifies a user. */
  readonly scopes: (baseUrl: string) => readonly string[];
  readonly endpoints: (baseUrl: string) => OAuthEndpoints;
  /** What else the consent page wants to be asked with. */
  readonly asks?: (baseUrl: string) => Readonly<Record<string, string>>;
  /** Of the API that takes the token. */
  readonly apiUrl: (baseUrl: string) => string;
  /** @param api with the token. @throws ProviderRefusal for a user of another workspace. */
  readonly whoIs: (api: ProviderClient, at: LinkedAt) => Promise<Account>;
  /** Missing: the provider has no pull requests. */
  readonly approval?: Approval;
  /** Ends a token before its time. Missing: the provider has no such call. */
  readonly revoke?: (
    at: { readonly baseUrl: string; readonly app: OAuthApp; readonly token: string },
    connect: Connect,
  ) => Promise<void>;
}

/** Of a provider that has both below the address of its pages. */
export function endpointsBelow(authorizePath: string, tokenPath: string): AccountLinking['endpoints'] {
  return (baseUrl) => ({
    authorize: `${baseUrl}${authorizePath}`,
    token: { baseUrl, path: tokenPath, format: 'form' },
  });
}

/** Where the browser goes to ask for consent. @param challenge S256 of the verifier. */
export function authorizeUrl(
  { endpoints, scopes, asks }: AccountLinking,
  asked: {
    readonly baseUrl: string;
    readonly clientId: string;
    readonly redirectUri: string;
    readonly state: string;
    readonly challenge: string;
    /** Instead of those that say who it is. */
    readonly scopes?: readonly string[] | undefined;
  },
): string {
  const scope = (asked.scopes ?? scopes(asked.baseUrl)).join(' ');
  const url = new URL(endpoints(asked.baseUrl).authorize);
  url.search = new URLSearchParams({
    client_id: asked.clientId,
    redirect_uri: asked.redirectUri,
    response_type: 'code',
    state: asked.state,
    ...(scope === '' ? {} : { scope }),
    ...asks?.(asked.baseUrl),
    code_challenge: asked.challenge,
    code_challenge_method: 'S256',
  }).toString();
  return url.href;
}
