import type { ErrorCode } from '@slipway/contracts/errors';
import type { Gate } from '@slipway/contracts/identity';
import type { Org, Principal } from '@slipway/contracts/organizations';
import { notFound, SlipwayError } from '@slipway/errors';
import { currentContext } from '@slipway/telemetry';
import type { ApiKeys, AuthenticatedKey } from './api-keys/api-keys.js';
import type { SessionCookie } from './session-cookie.js';
import type { Sessions, SignedIn } from './sessions.js';

/** What a browser says of the page that asks. */
interface FetchHeaders {
  readonly origin?: string | undefined;
  readonly 'sec-fetch-site'?: string | string[] | undefined;
}

/** Who was authenticated, and how. */
export type Authenticated =
  | { readonly kind: 'session'; readonly user: SignedIn }
  | { readonly kind: 'api-key'; readonly key: AuthenticatedKey };

/** Credentials of a client. */
interface CredentialHeaders {
  readonly cookie?: string | undefined;
  readonly authorization?: string | undefined;
}

/** What a user has to do before anything else (`Gate`). */
export interface GateRules {
  readonly verifiedEmail: boolean;
  /** The version of the terms that has to be accepted; `null`: there are none. */
  readonly termsVersion: string | null;
}
const NO_GATES: GateRules = { verifiedEmail: false, termsVersion: null };
const NEED_ERRORS = {
  'sign-in': ['org.sign-in-again', 'This sign-in is older, or was longer unused, than the organization allows.'],
  'second-factor': [
    'org.second-factor-needed',
    'The organization lets in only who has signed in with a second factor, and lately enough.',
  ],
} as const satisfies Record<NonNullable<Org['needs']>, readonly [ErrorCode, string]>;
const GATE_WORDS: Readonly<Record<Gate, string>> = {
  'email-unverified': 'The e-mail address of this account has not been verified.',
  'terms-required': 'The present terms of this installation have not been accepted.',
};

/** Credential → principal. Used by requests and sockets. */
export class PrincipalService {
  private readonly origin: string;

  /** @param publicUrl where browsers reach Slipway. */
  constructor(
    private readonly cookie: SessionCookie,
    private readonly sessions: Pick<Sessions, 'find' | 'findNow'>,
    private readonly keys: Pick<ApiKeys, 'find'>,
    publicUrl: string,
    private readonly rules: GateRules = NO_GATES,
  ) {
    this.origin = new URL(publicUrl).origin;
  }

  /**
   * Whom these headers authenticate, or `null`. A bearer token counts alone: with an invalid one the cookie is ignored,
   * so that a request never runs as another user than intended. Other schemes of `Authorization` are a proxy's matter
   * and ignored.
   */
  async authenticate({ cookie, authorization }: CredentialHeaders): Promise<Authenticated | null> {
    const token = bearerOf(authorization);
    if (token === undefined) {
      const user = await this.authenticateCookie(cookie);
      return user === null ? null : { kind: 'session', user };
    }
    const key = await this.authenticateKey(token);
    return key === null ? null : { kind: 'api-key', key };
  }

  /** The API key whose token this is, or `null`. Notes its owner in the request's context for the log. */
  async authenticateKey(token: string): Promise<AuthenticatedKey | null> {
    const key = await this.keys.find(token);
    const context = currentContext();
    if (key !== null && context !== undefined) context.userId = key.owner.id;
    return key;
  }

  /** The user whom a `Cookie` header authenticates, or `null`. Notes the user in the request's context for the log. */
  async authenticateCookie(header: string | undefined): Promise<SignedIn | null> {
    const sessionId = await this.cookie.sessionOf(header);
    const user = sessionId === null ? null : await this.sessions.find(sessionId);
    const context = currentContext();
    if (user !== null && context !== undefined) context.userId = user.userId;
    return user;
  }

  /**
   * Whether a `Cookie` header has one of ours, right or wrong: what it is sent with must then come from our own pages.
   */
  hasCookie(header: string | undefined): boolean {
    return this.cookie.read(header) !== undefined;
  }

  /** What this user still has to do before other operations answer. */
  gatesOf({ emailVerified, termsVersion }: Pick<SignedIn, 'emailVerified' | 'termsVersion'>): Gate[] {
    return [
      ...(this.rules.verifiedEmail && !emailVerified ? (['email-unverified'] as const) : []),
      ...(this.rules.termsVersion !== null && termsVersion !== this.rules.termsVersion
        ? (['terms-required'] as const)
        : []),
    ];
  }

  /**
   * The same for every principal: a user's key waits for what its user still has to do. A service account has nothing
   * to do.
   */
  gatesOfCredential(authenticated: Authenticated): Gate[] {
    if (authenticated.kind === 'session') return this.gatesOf(authenticated.user);
    return authenticated.key.owner.kind === 'user' ? this.gatesOf(authenticated.key.owner) : [];
  }

  /** @throws SlipwayError `account.email-unverified` or `account.terms-required`, whichever comes first. */
  assertGatesPassed(authenticated: Authenticated): void {
    const [gate] = this.gatesOfCredential(authenticated);
    if (gate !== undefined) throw new SlipwayError(`account.${gate}`, GATE_WORDS[gate]);
  }

  /**
   * The user as a member of one organization.
   * @param org id or slug.
   * @throws SlipwayError `resource.not-found`, the same for an organization that is not there and for one that the user
   * is not in; `org.sign-in-again` or `org.second-factor-needed` when the rules of the organization refuse this
   * session.
   */
  principalFor(user: SignedIn, org: string): Principal {
    const member = user.orgs.find(({ id, slug }) => id === org || slug === org);
    if (member === undefined) throw notFound();
    const context = currentContext();
    if (context !== undefined) context.orgId = member.id;
    if (member.needs !== null) throw needed(member.needs);
    return {
      orgId: member.id,
      actor: { kind: 'user', id: user.userId, label: user.name },
      permissions: new Set(member.permissions),
    };
  }

  /**
   * The key's owner with what the key leaves of their permissions.
   * @param org id or slug. @throws SlipwayError `resource.not-found` for every organization but the key's own.
   */
  principalOfKey(key: AuthenticatedKey, org: string): Principal {
    if (key.org.id !== org && key.org.slug !== org) throw notFound();
    const context = currentContext();
    if (context !== undefined) context.orgId = key.org.id;
    const { kind, id, label } = key.owner;
    return { orgId: key.org.id, actor: { kind, id, label, viaKey: key.keyId }, permissions: key.permissions };
  }

  /**
   * The same credential, with the user's memberships read again when they are not of this organization: another process
   * may just have added them. At most one query for a request that ends with 404 otherwise.
   */
  async upToDate(authenticated: Authenticated, org: string): Promise<Authenticated> {
    if (authenticated.kind === 'api-key' || authenticated.user.orgs.some(({ id, slug }) => id === org || slug === org))
      return authenticated;
    const user = await this.sessions.findNow(authenticated.user.sessionId);
    return user === null ? authenticated : { kind: 'session', user };
  }

  /** `principalFor` or `principalOfKey`. */
  principalOf(authenticated: Authenticated, org: string): Principal {
    return authenticated.kind === 'session'
      ? this.principalFor(authenticated.user, org)
      : this.principalOfKey(authenticated.key, org);
  }

  /**
   * Whether this socket may use the cookie: its page is of our origin. A client without an `Origin` is no browser page
   * (a page names its origin when it opens a WebSocket), unless the browser says that it comes from elsewhere.
   */
  mayOpenSocket(headers: FetchHeaders): boolean {
    const { origin, 'sec-fetch-site': site } = headers;
    return origin === undefined
      ? site === undefined || site === 'same-origin' || site === 'none'
      : origin === this.origin;
  }

  /**
   * Refuses an unsafe request that another site's page may have made with the cookie of this browser: `Origin` must be
   * ours, or the browser must say `Sec-Fetch-Site: same-origin`.
   * @throws SlipwayError `request.cross-site`
   */
  assertSameSite(headers: FetchHeaders): void {
    if (headers.origin === this.origin || (headers.origin === undefined && headers['sec-fetch-site'] === 'same-origin'))
      return;
    throw new SlipwayError(
      'request.cross-site',
      `A request that changes something and is made with the cookie must come from ${this.origin}.`,
    );
  }
}

function needed(need: NonNullable<Org['needs']>): SlipwayError {
  const [code, detail] = NEED_ERRORS[need];
  return new SlipwayError(code, detail);
}

/**
 * What `Authorization` names as its bearer token, whatever it is, or `undefined` when it is of another scheme or there
 * is none.
 */
export function bearerOf(authorization: string | undefined): string | undefined {
  const match = /^bearer(?:\s+(.*))?$/i.exec(authorization ?? '');
  return match === null ? undefined : (match[1] ?? '').trim();
}
