import { Inject, Injectable } from '@nestjs/common';
import { PrincipalService, readCookie, type SignedIn } from '@slipway/auth';
import type { Principal } from '@slipway/contracts/organizations';
import type { SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import type { Config } from '../../config.js';
import { CLOCK, CONFIG, SQL_POOL } from '../../platform/tokens.js';
import { hashOf, isNonce, nonceCookie } from '../linking/link-proof.js';
import { type TakenAppRequest, takeAppRequest } from './app-requests.queries.js';

/** What the provider has sent the browser back with: all of it a claim. */
export interface ComeBackQuery {
  readonly state?: unknown;
  readonly code?: unknown;
  readonly error?: unknown;
  readonly installation_id?: unknown;
  readonly setup_action?: unknown;
}

/** A browser that comes back. */
export interface ComeBack {
  readonly query: ComeBackQuery;
  readonly cookieHeader: string | undefined;
  /** Called with the organization once it is known that this very browser has begun. */
  readonly begunIn: (orgId: string) => void;
}

export interface TakenBack {
  readonly request: TakenAppRequest;
  /** Of now: who is no admin any more finishes nothing. */
  readonly principal: Principal;
  /** Ends the browser's. */
  readonly cookie: string;
  /** As it was in the cookie. */
  readonly nonce: string;
}

/**
 * The browser that comes back from a provider: it has to be the one that began, in the same session, at the address of
 * the same connection, and once.
 */
@Injectable()
export class AppComeBack {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
    private readonly principals: PrincipalService,
  ) {}

  /**
   * The state is used up, whoever brings it. @throws SlipwayError `integration.app-refused`; `auth.…`,
   * `resource.not-found` for who may not any more.
   */
  async take(
    user: SignedIn,
    at: ({ readonly connectionId: string } | { readonly platform: string }) & { readonly kind: 'register' | 'install' },
    { query: { state }, cookieHeader, begunIn }: ComeBack,
  ): Promise<TakenBack> {
    if (typeof state !== 'string' || state === '' || state.length > 200) throw this.refused();
    const request = await takeAppRequest(this.pool, hashOf(state), this.clock.now());
    const cookie = nonceCookie(state, this.config.PUBLIC_URL);
    const nonce = readCookie(cookieHeader, cookie.name);
    if (
      request === null ||
      request.session_id !== user.sessionId ||
      request.user_id !== user.userId ||
      nonce === undefined
    )
      throw this.refused();
    // Begun for another connection, perhaps at another provider: its code is not that one's to have.
    if (
      request.kind !== at.kind ||
      ('platform' in at ? request.provider !== at.platform : request.connection_id !== at.connectionId)
    )
      throw this.refused();
    if (!isNonce(nonce, request.nonce_hash)) throw this.refused();
    begunIn(request.org_id);
    return { request, principal: await this.principalIn(user, request.org_id), cookie: cookie.set('', 0), nonce };
  }

  /** @throws SlipwayError `permission.denied` for who may not change connections. */
  async principalIn(user: SignedIn, orgId: string): Promise<Principal> {
    const principal = this.principals.principalOf(
      await this.principals.upToDate({ kind: 'session', user }, orgId),
      orgId,
    );
    if (!principal.permissions.has('integration:write'))
      throw new SlipwayError('permission.denied', 'Your role does not allow integration:write.');
    return principal;
  }

  refused(): SlipwayError {
    return new SlipwayError(
      'integration.app-refused',
      'It was not begun in this browser and session, was used already, or took too long.',
    );
  }
}
