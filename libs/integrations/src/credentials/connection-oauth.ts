import { z } from 'zod';
import type { ProviderClient } from '../calls/provider-client.js';
import { ProviderRefusal } from '../calls/provider-refusal.js';
import type { Connect, OAuthApp, OAuthEndpoints } from '../linking/account-linking.js';
import { fields, maybe } from '../reading/fields.js';

/** Tokens as a provider has just given them. */
export interface Grant {
  readonly accessToken: string;
  /** `null`: it is not renewed. */
  readonly refreshToken: string | null;
  /** Seconds; `null`: the provider gives no expiry. */
  readonly expiresIn: number | null;
  /** `null`: the provider does not say. */
  readonly scopes: readonly string[] | null;
}

/** Who a connection is at its provider, by the provider's word. */
export interface Installation {
  /** Of the account that the tokens act as. */
  readonly ids: readonly string[];
  /** As people write it to mention the account; `null`: not by a name of its own. */
  readonly mention: string | null;
  readonly name: string;
  /** Workspace, organization or site that the tokens reach; `null`: the whole instance. */
  readonly account: string | null;
  readonly accountName: string | null;
}

/**
 * How a provider lets an admin connect an organization by OAuth 2.0. `baseUrl` is where its pages are, without a slash
 * at its end.
 */
export interface ConnectionOAuth {
  /** Whether the instance there has it. */
  readonly supports?: (baseUrl: string) => boolean;
  /** What Slipway needs: asked for, and compared with what was granted. */
  readonly scopes: readonly string[];
  /** Between scopes on the consent page. Blank unless it says otherwise. */
  readonly separator?: string;
  readonly endpoints: (baseUrl: string) => OAuthEndpoints;
  /** What else the consent page wants to be asked with. */
  readonly asks?: Readonly<Record<string, string>>;
  /** Where the calls of `installation` and `revoke` go. */
  readonly apiUrl: (baseUrl: string) => string;
  /**
   * @param api with the access token. @throws ProviderRefusal for a consent that does not reach what is at `baseUrl`.
   */
  readonly installation: (api: ProviderClient, baseUrl: string) => Promise<Installation>;
  /** What the API's address is made from instead of the pages', by the installation's account. */
  readonly apiBase?: (account: string | null) => string | null;
  /** Ends tokens. Missing: the provider has no such call. */
  readonly revoke?: (
    at: {
      readonly baseUrl: string;
      readonly app: OAuthApp;
      readonly tokens: Pick<Grant, 'accessToken' | 'refreshToken'>;
    },
    connect: Connect,
  ) => Promise<void>;
  /** The scheme of deliveries whose secret is that of the client. */
  readonly signsWithClientSecret?: string;
}

const token = z.string().min(1).max(8_192);
const tokens = fields({
  access_token: token.optional(),
  refresh_token: maybe(token),
  expires_in: maybe(
    z.coerce
      .number()
      .positive()
      .max(10 * 365 * 86_400),
  ),
  scope: maybe(z.union([z.string().max(8_192), z.array(z.string().max(200)).max(200)])),
  error: maybe(z.string().max(200)),
});

/** Of a refused renewal that is final: the tokens are worth nothing, or the client is not taken. */
export function isFinal(error: unknown): boolean {
  return (
    error instanceof ProviderRefusal &&
    (error.kind === 'invalid' || error.kind === 'credential' || error.kind === 'forbidden')
  );
}

/** @throws ProviderRefusal `invalid` for a code that the provider does not take. */
export function redeemCode(
  oauth: ConnectionOAuth,
  {
    code,
    redirectUri,
    verifier,
    ...at
  }: {
    readonly baseUrl: string;
    readonly app: OAuthApp;
    readonly code: string;
    readonly redirectUri: string;
    readonly verifier: string;
  },
  connect: Connect,
): Promise<Grant> {
  return askForTokens(
    oauth,
    at,
    { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier },
    connect,
  );
}

/**
 * Once for each refresh token: most providers end the pair that it belongs to. @throws ProviderRefusal; `isFinal` says
 * whether asking again could help.
 */
export async function renewTokens(
  oauth: ConnectionOAuth,
  { refreshToken, ...at }: { readonly baseUrl: string; readonly app: OAuthApp; readonly refreshToken: string },
  connect: Connect,
): Promise<Grant> {
  const grant = await askForTokens(oauth, at, { grant_type: 'refresh_token', refresh_token: refreshToken }, connect);
  // One that does not rotate may leave it out.
  return { ...grant, refreshToken: grant.refreshToken ?? refreshToken };
}

async function askForTokens(
  oauth: ConnectionOAuth,
  { baseUrl, app }: { readonly baseUrl: string; readonly app: OAuthApp },
  asked: Readonly<Record<string, string>>,
  connect: Connect,
): Promise<Grant> {
  const at = oauth.endpoints(baseUrl).token;
  const sent = { ...asked, client_id: app.clientId, client_secret: app.clientSecret };
  const { body } = await connect(at.baseUrl, null).call({
    method: 'POST',
    path: at.path,
    [at.format === 'json' ? 'body' : 'form']: sent,
    answer: tokens,
  });
  const { access_token: accessToken, error } = body;
  if (accessToken !== undefined)
    return { accessToken, refreshToken: body.refresh_token, expiresIn: body.expires_in, scopes: scopesOf(body.scope) };
  // Slack refuses with 200 and an `error`, which also says that it is asked too often or is broken.
  const kind =
    error === null
      ? 'unreadable'
      : /^(internal_error|fatal_error|service_unavailable|request_timeout)$/.test(error)
        ? 'unavailable'
        : 'invalid';
  const limited = error === 'ratelimited' || error === 'rate_limited';
  throw new ProviderRefusal(`POST ${at.path}: ${error === null ? 'no token' : 'refused'}`, {
    kind: limited ? 'limited' : kind,
    status: 200,
    retryAt: null,
    outcomeUnknown: false,
  });
}

/** Separated by blanks, by commas (Slack), or a list (Linear). */
function scopesOf(scope: string | readonly string[] | null): readonly string[] | null {
  if (scope === null) return null;
  const all = typeof scope === 'string' ? scope.split(/[\s,]+/) : scope;
  const named = all.filter((each) => each !== '').slice(0, 200);
  return named.length === 0 ? null : named;
}

/** Where the browser goes to ask for consent. @param challenge S256 of the verifier. */
export function consentUrl(
  oauth: ConnectionOAuth,
  asked: {
    readonly baseUrl: string;
    readonly clientId: string;
    readonly redirectUri: string;
    readonly state: string;
    readonly challenge: string;
  },
): string {
  const url = new URL(oauth.endpoints(asked.baseUrl).authorize);
  url.search = new URLSearchParams({
    client_id: asked.clientId,
    redirect_uri: asked.redirectUri,
    response_type: 'code',
    state: asked.state,
    scope: oauth.scopes.join(oauth.separator ?? ' '),
    ...oauth.asks,
    code_challenge: asked.challenge,
    code_challenge_method: 'S256',
  }).toString();
  return url.href;
}
