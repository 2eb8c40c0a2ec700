import { Inject, Injectable } from '@nestjs/common';
import {
  OidcIssuer,
  ProviderTokens,
  readCookie,
  SecretBox,
  SessionCookie,
  Sessions,
  type SignInOrigin,
} from '@slipway/auth';
import type { Clock } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import type { Config } from '../../config.js';
import { hostCookieRules } from '../../http/host-cookie.js';
import { DomainJoin } from '../../organizations/domains/domain-join.js';
import { CLOCK, CONFIG } from '../../platform/tokens.js';
import { SWITCHED_PATH } from './paths.js';
import { returnUrl } from './return-path.js';
import type { SignInRequest } from './sign-in-request.js';
import { openSwitch, sealSwitch } from './switch-state.js';
import { openTransaction, sealTransaction, TRANSACTION_SECONDS, transactionCookie } from './transaction-cookie.js';

/**
 * Longest that a sign-in waits for the tokens of other providers; what comes later is kept all the same. Milliseconds.
 */
const PROVIDERS_MS = 2_000;

/** Begins, finishes and ends the sign-in of a browser. Answers `Set-Cookie` values beside what they belong to. */
@Injectable()
export class SignInService {
  private readonly attributes: string;

  constructor(
    private readonly issuer: OidcIssuer,
    private readonly sessions: Sessions,
    private readonly providers: ProviderTokens,
    private readonly domains: DomainJoin,
    private readonly cookie: SessionCookie,
    private readonly box: SecretBox,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    this.attributes = hostCookieRules(config.PUBLIC_URL);
  }

  /** Where it leads afterwards is a path of ours, or the start page. */
  async begin({ redirect, options }: SignInRequest): Promise<{ location: string; cookies: string[] }> {
    const { url, transaction } = await this.issuer.begin(options);
    const sealed = sealTransaction(this.box, {
      ...transaction,
      redirect: returnUrl(redirect, this.config.PUBLIC_URL),
      expiresAtMs: this.clock.now().getTime() + TRANSACTION_SECONDS * 1000,
    });
    const { name, attributes } = transactionCookie(transaction.state, this.config.PUBLIC_URL);
    return {
      location: url,
      cookies: [`${name}=${sealed}; ${attributes}; Max-Age=${TRANSACTION_SECONDS}; ${this.attributes}`],
    };
  }

  /**
   * Ends the session of this browser and leads to the issuer's sign-out, which comes back to `switchedTo`: an issuer
   * that still knows the user would only ask for the same password again. Without a session here, or when the issuer
   * has no sign-out, it is asked for a new sign-in at once.
   */
  async switchUser(
    asked: SignInRequest,
    cookieHeader: string | undefined,
  ): Promise<{ location: string; cookies: string[] }> {
    const sessionId = await this.cookie.sessionOf(cookieHeader);
    const idToken = sessionId === null ? null : await this.sessions.end(sessionId);
    const { pathname, search, hash } = new URL(returnUrl(asked.redirect, this.config.PUBLIC_URL));
    const state = sealSwitch(this.box, {
      redirect: `${pathname}${search}${hash}`,
      loginHint: asked.options.loginHint ?? null,
      expiresAtMs: this.clock.now().getTime() + TRANSACTION_SECONDS * 1000,
    });
    const back = new URL(SWITCHED_PATH, this.config.PUBLIC_URL).href;
    const location = idToken === null ? null : await this.issuer.endSessionUrl(idToken, back, state);
    if (location === null) return this.begin({ ...asked, options: { ...asked.options, prompt: 'login' } });
    return { location, cookies: [this.cookie.clear()] };
  }

  /**
   * What was asked for before the sign-out. @param state as the issuer brought it back; anything else leads to the
   * start page.
   */
  switchedTo(state: unknown): SignInRequest {
    const asked = openSwitch(this.box, state, this.clock.now());
    return {
      redirect: asked?.redirect,
      options: asked === null || asked.loginHint === null ? {} : { loginHint: asked.loginHint },
      switching: false,
    };
  }

  /**
   * A new session with a new id; the one that the browser had before ends in the same step.
   * @throws SlipwayError `auth.sign-in-failed` when this browser did not begin this sign-in, or the issuer does not
   * confirm it; `auth.unavailable`; `account.deactivated`
   */
  async finish(
    query: string,
    cookieHeader: string | undefined,
    from: Pick<SignInOrigin, 'userAgent' | 'address'>,
  ): Promise<{ location: string; cookies: string[] }> {
    const state = new URLSearchParams(query).get('state') ?? '';
    const { name, attributes } = transactionCookie(state, this.config.PUBLIC_URL);
    const transaction = openTransaction(this.box, readCookie(cookieHeader, name), this.clock.now());
    if (transaction === null || transaction.state !== state) {
      throw new SlipwayError(
        'auth.sign-in-failed',
        'This sign-in was not begun in this browser, or it took longer than thirty minutes.',
      );
    }
    const { identity, tokens } = await this.issuer.finish(query, transaction);
    const replaces = await this.cookie.sessionOf(cookieHeader);
    const { sessionId, userId, expiresAt } = await this.sessions.start(identity, tokens, { ...from, replaces });
    await this.domains.joinByDomain(userId);
    await this.takeProviderTokens(userId, tokens.accessToken);
    return {
      location: transaction.redirect,
      cookies: [
        await this.cookie.set(sessionId, expiresAt, this.clock.now()),
        `${name}=; ${attributes}; Max-Age=0; ${this.attributes}`,
      ],
    };
  }

  /**
   * Ends the session at once. `logoutUrl`: where the browser goes to end the issuer's session too; the start page when
   * there is none.
   */
  async end(cookieHeader: string | undefined): Promise<{ logoutUrl: string; cookies: string[] }> {
    const home = new URL('/', this.config.PUBLIC_URL).href;
    const sessionId = await this.cookie.sessionOf(cookieHeader);
    const idToken = sessionId === null ? null : await this.sessions.end(sessionId);
    const logoutUrl = idToken === null ? null : await this.issuer.endSessionUrl(idToken, home);
    return { logoutUrl: logoutUrl ?? home, cookies: [this.cookie.clear()] };
  }

  /**
   * What the issuer says by a logout token. `'refused'`: it is none of this issuer for this client. The same token
   * again ends nothing more.
   * @throws SlipwayError `auth.unavailable` when the issuer's keys cannot be had, so that it sends the token again
   */
  async endByIssuer(logoutToken: unknown): Promise<number | 'refused'> {
    if (typeof logoutToken !== 'string') return 'refused';
    const logout = await this.issuer.verifyLogoutToken(logoutToken);
    return logout === 'refused' ? logout : this.sessions.endByIssuer(logout);
  }

  private async takeProviderTokens(userId: string, accessToken: string): Promise<void> {
    if (this.config.OIDC_BROKERS.length === 0) return;
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, PROVIDERS_MS);
    await Promise.race([this.providers.take(userId, accessToken), late.promise]);
    clearTimeout(timer);
  }
}
