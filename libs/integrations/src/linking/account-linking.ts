import type { ProviderClient } from '../calls/provider-client.js';

/** Who somebody is at a provider. */
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

/** OAuth 2.0 with an authorization code and PKCE (S256), as one provider has it. `baseUrl` is where its pages are, without a slash at its end. */
export interface AccountLinking {
  /** The least by which the provider says who somebody is. */
  readonly scopes: readonly string[];
  readonly authorizePath: string;
  readonly tokenPath: string;
  /** Of the API that takes the token. */
  readonly apiUrl: (baseUrl: string) => string;
  /** @param api with the token. */
  readonly whoIs: (api: ProviderClient) => Promise<Account>;
  /** Ends a token before its time. Missing: the provider has no such call. */
  readonly revoke?: (at: { readonly baseUrl: string; readonly app: OAuthApp; readonly token: string }, connect: Connect) => Promise<void>;
}

/** Where the browser goes to ask for consent. @param challenge S256 of the verifier. */
export function authorizeUrl(
  { authorizePath, scopes }: AccountLinking,
  asked: { readonly baseUrl: string; readonly clientId: string; readonly redirectUri: string; readonly state: string; readonly challenge: string },
): string {
  const url = new URL(`${asked.baseUrl}${authorizePath}`);
  url.search = new URLSearchParams({
    client_id: asked.clientId,
    redirect_uri: asked.redirectUri,
    response_type: 'code',
    state: asked.state,
    ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
    code_challenge: asked.challenge,
    code_challenge_method: 'S256',
  }).toString();
  return url.href;
}
