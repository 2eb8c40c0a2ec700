import { SlipwayError } from '@slipway/errors';
import * as oidc from 'openid-client';
import { GrantRefused, Grants } from './grants.js';
import { IssuerKeys } from './issuer-keys.js';
import { type IssuerLogout, readLogoutToken } from './logout-tokens.js';
import { type ProviderToken, readProviderToken } from './provider-token.js';

/** What a browser must bring back from the issuer to finish the sign-in that it began. */
export interface SignInTransaction {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}
export interface Tokens {
  /**
   * Good for `accessSeconds`; used for the user's data at the issuer, see `providerToken`. Not kept with the session.
   */
  readonly accessToken: string;
  readonly idToken: string;
  /** Absent when the issuer gives none; the session then lasts without renewal. */
  readonly refreshToken: string | null;
  /** Remaining lifetime of the access token. Seconds. */
  readonly accessSeconds: number;
}
/** Who signed in, as the issuer says. `subject` is unique within `issuer`. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  readonly email: string | null;
  /** Whether the issuer verified that the user owns `email`. False without one, and when the issuer does not say. */
  readonly emailVerified: boolean;
  /**
   * The issuer's own session that this sign-in belongs to (`sid`), which a back-channel logout names; `null` when the
   * issuer names none.
   */
  readonly issuerSession: string | null;
  /**
   * Alias of the provider by which the user came (`github`), whose token `providerToken` may give; `null` for a
   * password of the issuer's own.
   */
  readonly provider: string | null;
  /**
   * When they last signed in at the issuer (`auth_time`), which may be long before this sign-in; `null` when it does
   * not say.
   */
  readonly authenticatedAt: Date | null;
  /** The issuer says that it was with a second factor: by `acr`, or by `amr`. */
  readonly secondFactor: boolean;
}
/** What the issuer's page is asked for beside a sign-in. */
export interface SignInOptions {
  /**
   * `login`: the user authenticates again, though the browser has a session with the issuer. Keycloak then accepts only
   * the user of that session.
   */
  readonly prompt?: 'login';
  /** Filled into the form. */
  readonly loginHint?: string;
  /** Asks for a second factor, by `acr_values`: an issuer that has none goes on without. */
  readonly secondFactor?: true;
  /**
   * Keycloak's: the user verifies the e-mail address before coming back; an issuer that does not know it ignores it.
   */
  readonly action?: 'VERIFY_EMAIL';
}
export interface OidcOptions {
  readonly issuerUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
  /** Values of `acr` that say that there was a second factor; asked for with `SignInOptions.secondFactor`. */
  readonly secondFactorAcr?: readonly string[];
}

type TokenEndpointAnswer = Awaited<ReturnType<typeof oidc.refreshTokenGrant>>;
interface Trust {
  readonly issuer: string;
  readonly keys: IssuerKeys;
  readonly grants: Grants<TokenEndpointAnswer>;
}

/** Longest wait for one answer of the issuer. Seconds. */
const TIMEOUT_SECONDS = 5;
/**
 * A sign-in begins only when the issuer has answered this recently: otherwise the browser would be sent to a dead
 * address. Milliseconds.
 */
const SEEN_ALIVE_MS = 2_000;
/** Lifetime of an access token when the answer has none. Seconds. */
const DEFAULT_ACCESS_SECONDS = 300;
const SCOPE = 'openid profile email';
/** What the realm of `keycloak/` calls a sign-in with a second factor. */
export const SECOND_FACTOR_ACR = 'second-factor';
/** Values of `amr` (RFC 8176) that say the same. */
const SECOND_FACTOR_AMR: ReadonlySet<unknown> = new Set(['mfa', 'otp', 'hwk']);
/**
 * The issuer's clock and ours may differ by five minutes; half a minute is for what a token takes to get here. Seconds.
 */
const CLOCK_TOLERANCE_SECONDS = 330;

/**
 * One OIDC issuer compatible with Keycloak: authorization code with PKCE (S256), state and nonce; every token of
 * Keycloak's is checked by its signature. Its metadata is fetched when first needed and again after a failure, so that
 * a process starts while the issuer is down. Plain http is accepted for a loopback issuer only.
 */
export class OidcIssuer {
  private discovery: { at: number; configuration: Promise<oidc.Configuration> } | undefined;
  private trust: Trust | undefined;

  constructor(private readonly options: OidcOptions) {}

  /** @throws SlipwayError `auth.unavailable` */
  async begin(options: SignInOptions = {}): Promise<{ url: string; transaction: SignInTransaction }> {
    const config = await this.configuration(SEEN_ALIVE_MS);
    const transaction = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
    };
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: this.options.redirectUri,
      scope: SCOPE,
      state: transaction.state,
      nonce: transaction.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(transaction.verifier),
      code_challenge_method: 'S256',
      ...(options.prompt === undefined ? {} : { prompt: options.prompt }),
      ...(options.loginHint === undefined ? {} : { login_hint: options.loginHint }),
      ...(options.secondFactor === undefined ? {} : { acr_values: this.acrs.join(' ') }),
      ...(options.action === undefined ? {} : { kc_action: options.action }),
    });
    return { url: url.href, transaction };
  }

  /**
   * @param query the query string that the browser brought to the redirect URI.
   * @throws SlipwayError `auth.sign-in-failed` when state, nonce, code or signature are not right; `auth.unavailable`
   */
  async finish(query: string, transaction: SignInTransaction): Promise<{ identity: Identity; tokens: Tokens }> {
    const config = await this.configuration();
    const current = new URL(this.options.redirectUri);
    current.search = query;
    const answer = await oidc
      .authorizationCodeGrant(config, current, {
        expectedState: transaction.state,
        expectedNonce: transaction.nonce,
        pkceCodeVerifier: transaction.verifier,
        idTokenExpected: true,
      })
      .catch((error: unknown) => {
        throw isOutage(error)
          ? unavailable(error)
          : new SlipwayError('auth.sign-in-failed', 'The sign-in could not be completed.', { cause: error });
      });
    await this.trusted(config)
      .grants.check(answer)
      .catch((error: unknown) => {
        throw error instanceof GrantRefused
          ? new SlipwayError('auth.sign-in-failed', 'The sign-in could not be completed.', { cause: error })
          : unavailable(error);
      });
    const claims = answer.claims();
    if (claims === undefined || answer.id_token === undefined)
      throw new SlipwayError('auth.sign-in-failed', 'The sign-in service sent no identity.');
    const text = (name: string): string | null =>
      typeof claims[name] === 'string' && claims[name] !== '' ? (claims[name] as string) : null;
    return {
      identity: {
        issuer: claims.iss,
        subject: claims.sub,
        name: text('name') ?? text('preferred_username') ?? text('email') ?? claims.sub,
        email: text('email'),
        emailVerified: text('email') !== null && claims['email_verified'] === true,
        issuerSession: text('sid'),
        provider: text('identity_provider'),
        authenticatedAt: typeof claims.auth_time === 'number' ? new Date(claims.auth_time * 1000) : null,
        secondFactor:
          this.acrs.includes(text('acr') ?? '') ||
          (Array.isArray(claims['amr']) && claims['amr'].some((method) => SECOND_FACTOR_AMR.has(method))),
      },
      tokens: tokensOf(answer, { idToken: answer.id_token, refreshToken: null }),
    };
  }

  /**
   * New tokens for old.
   * @returns `'refused'` when the issuer says that this sign-in is over (`invalid_grant`), and only then.
   * @throws SlipwayError `auth.unavailable` for everything else: the session is none the worse for it.
   */
  async refresh(tokens: { readonly idToken: string; readonly refreshToken: string }): Promise<Tokens | 'refused'> {
    const config = await this.configuration();
    try {
      return tokensOf(await this.trusted(config).grants.refresh(tokens.refreshToken), tokens);
    } catch (error) {
      if (error instanceof oidc.ResponseBodyError && error.error === 'invalid_grant') return 'refused';
      throw unavailable(error);
    }
  }

  /**
   * Where the browser ends its session with the issuer too, or `null` when the issuer cannot be asked or has no such
   * page.
   * @param state brought back to `returnTo`.
   */
  async endSessionUrl(idToken: string, returnTo: string, state?: string): Promise<string | null> {
    try {
      return oidc.buildEndSessionUrl(await this.configuration(), {
        id_token_hint: idToken,
        post_logout_redirect_uri: returnTo,
        ...(state === undefined ? {} : { state }),
      }).href;
    } catch {
      return null;
    }
  }

  /**
   * What a back-channel logout token says is over. Its `jti` is not remembered here: ending what has ended is harmless.
   * @param jwt `logout_token` of the issuer's POST, from anyone: nothing of it is believed before its signature is
   * checked.
   * @returns `'refused'` for anything that is not a logout token of this issuer for this client.
   * @throws SlipwayError `auth.unavailable` when the issuer's keys cannot be had; the issuer may send it again.
   */
  async verifyLogoutToken(jwt: string): Promise<IssuerLogout | 'refused'> {
    const { issuer, keys } = this.trusted(await this.configuration());
    return readLogoutToken(jwt, keys, {
      issuer,
      clientId: this.options.clientId,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
    }).catch((error: unknown) => {
      throw unavailable(error);
    });
  }

  /**
   * The token of the provider by which the user came, as the issuer stored it. It is the user's secret: keep it
   * encrypted, apart from the session.
   * @param alias `Identity.provider`.
   * @returns `null` when the issuer has none for this user.
   * @throws SlipwayError `auth.unavailable`; the sign-in itself does not need it.
   */
  providerToken(accessToken: string, alias: string): Promise<ProviderToken | null> {
    return readProviderToken(this.options.issuerUrl, accessToken, alias).catch((error: unknown) => {
      throw unavailable(error);
    });
  }

  private get acrs(): readonly string[] {
    return this.options.secondFactorAcr ?? [SECOND_FACTOR_ACR];
  }

  /** What is known of the issuer by its metadata. */
  private trusted(config: oidc.Configuration): Trust {
    const { issuer, jwks_uri: uri } = config.serverMetadata();
    if (uri === undefined) throw unavailable(new Error('the issuer publishes no keys'));
    if (this.trust?.issuer !== issuer || this.trust.keys.uri !== uri) {
      const keys = new IssuerKeys(uri);
      const renew = async (refreshToken: string): Promise<TokenEndpointAnswer> =>
        oidc.refreshTokenGrant(await this.configuration(), refreshToken);
      const { clientId } = this.options;
      this.trust = {
        issuer,
        keys,
        grants: new Grants({ issuer, clientId, keys, renew, clockTolerance: CLOCK_TOLERANCE_SECONDS }),
      };
    }
    return this.trust;
  }

  /** @param maxAgeMs how long ago the issuer may have answered. */
  private configuration(maxAgeMs = Number.POSITIVE_INFINITY): Promise<oidc.Configuration> {
    const known = this.discovery;
    if (known !== undefined && performance.now() - known.at <= maxAgeMs) return known.configuration;
    const discovery = {
      at: performance.now(),
      configuration: this.discover().catch((error: unknown) => {
        if (this.discovery === discovery) this.discovery = undefined;
        throw unavailable(error);
      }),
    };
    this.discovery = discovery;
    return discovery.configuration;
  }

  private discover(): Promise<oidc.Configuration> {
    const { issuerUrl, clientId, clientSecret } = this.options;
    const server = new URL(issuerUrl);
    return oidc.discovery(
      server,
      clientId,
      { [oidc.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
      oidc.ClientSecretPost(clientSecret),
      {
        timeout: TIMEOUT_SECONDS,
        // Signatures are the grant manager's to check: the built-in check would not fetch a new key within a minute of
        // the last.
        execute: isLoopback(server.hostname) ? [oidc.allowInsecureRequests] : [],
      },
    );
  }
}

function tokensOf(answer: TokenEndpointAnswer, before: Pick<Tokens, 'idToken' | 'refreshToken'>): Tokens {
  return {
    accessToken: answer.access_token,
    idToken: answer.id_token ?? before.idToken,
    refreshToken: answer.refresh_token ?? before.refreshToken,
    accessSeconds: answer.expiresIn() ?? DEFAULT_ACCESS_SECONDS,
  };
}

/** No answer, or one that is not OAuth's (a proxy's error page, a 5xx): it says nothing about this sign-in. */
function isOutage(error: unknown): boolean {
  if (error instanceof oidc.ResponseBodyError) return error.status >= 500;
  const code = (error as { code?: unknown } | null)?.code;
  return (
    (error instanceof TypeError && code === undefined) ||
    code === 'OAUTH_TIMEOUT' ||
    code === 'OAUTH_RESPONSE_IS_NOT_CONFORM' ||
    code === 'OAUTH_RESPONSE_IS_NOT_JSON'
  );
}

function unavailable(cause: unknown): SlipwayError {
  return new SlipwayError(
    'auth.unavailable',
    'The sign-in service does not answer. Try again in a moment; people already signed in can go on working.',
    {
      cause,
      retryAfterSeconds: 5,
    },
  );
}

export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}
