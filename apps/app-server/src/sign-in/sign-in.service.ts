import { Inject, Injectable } from '@nestjs/common';
import { OidcIssuer, readCookie, SESSION_COOKIE, SecretBox, SessionCookie, Sessions } from '@slipway/auth';
import type { Clock } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import type { Config } from '../config.js';
import { CLOCK, CONFIG } from '../platform/tokens.js';
import { returnUrl } from './return-path.js';
import { openTransaction, sealTransaction, TRANSACTION_SECONDS, transactionCookie } from './transaction-cookie.js';

/** Begins, finishes and ends the sign-in of a browser. Answers `Set-Cookie` values beside what they belong to. */
@Injectable()
export class SignInService {
  private readonly attributes: string;

  constructor(
    private readonly issuer: OidcIssuer,
    private readonly sessions: Sessions,
    private readonly cookie: SessionCookie,
    private readonly box: SecretBox,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    this.attributes = `HttpOnly; SameSite=Lax${new URL(config.PUBLIC_URL).protocol === 'https:' ? '; Secure' : ''}`;
  }

  /** @param redirect path to go to afterwards; anything that is not ours becomes the start page. */
  async begin(redirect: unknown): Promise<{ location: string; cookies: string[] }> {
    const { url, transaction } = await this.issuer.begin();
    const sealed = sealTransaction(this.box, {
      ...transaction,
      redirect: returnUrl(redirect, this.config.PUBLIC_URL),
      expiresAtMs: this.clock.now().getTime() + TRANSACTION_SECONDS * 1000,
    });
    const { name, attributes } = transactionCookie(transaction.state, this.config.PUBLIC_URL);
    return { location: url, cookies: [`${name}=${sealed}; ${attributes}; Max-Age=${TRANSACTION_SECONDS}; ${this.attributes}`] };
  }

  /**
   * A new session with a new id; the one that the browser had before ends.
   * @throws SlipwayError `auth.sign-in-failed` when this browser did not begin this sign-in, or the issuer does not confirm it; `auth.unavailable`
   */
  async finish(query: string, cookieHeader: string | undefined): Promise<{ location: string; cookies: string[] }> {
    const state = new URLSearchParams(query).get('state') ?? '';
    const { name, attributes } = transactionCookie(state, this.config.PUBLIC_URL);
    const transaction = openTransaction(this.box, readCookie(cookieHeader, name), this.clock.now());
    if (transaction === null || transaction.state !== state) {
      throw new SlipwayError('auth.sign-in-failed', 'This sign-in was not begun in this browser, or it took longer than ten minutes.');
    }
    const { identity, tokens } = await this.issuer.finish(query, transaction);
    const { sessionId, expiresAt } = await this.sessions.start(identity, tokens);
    const before = await this.cookie.verify(readCookie(cookieHeader, SESSION_COOKIE));
    if (before !== null) await this.sessions.end(before);
    const maxAge = Math.floor((expiresAt.getTime() - this.clock.now().getTime()) / 1000);
    return {
      location: transaction.redirect,
      cookies: [
        `${SESSION_COOKIE}=${await this.cookie.sign(sessionId, expiresAt)}; Path=/; Max-Age=${maxAge}; ${this.attributes}`,
        `${name}=; ${attributes}; Max-Age=0; ${this.attributes}`,
      ],
    };
  }

  /** Ends the session at once. `logoutUrl`: where the browser goes to end the issuer's session too; the start page when there is none. */
  async end(cookieHeader: string | undefined): Promise<{ logoutUrl: string; cookies: string[] }> {
    const home = new URL('/', this.config.PUBLIC_URL).href;
    const sessionId = await this.cookie.verify(readCookie(cookieHeader, SESSION_COOKIE));
    const idToken = sessionId === null ? null : await this.sessions.end(sessionId);
    const logoutUrl = idToken === null ? null : await this.issuer.endSessionUrl(idToken, home);
    return { logoutUrl: logoutUrl ?? home, cookies: [`${SESSION_COOKIE}=; Path=/; Max-Age=0; ${this.attributes}`] };
  }
}
