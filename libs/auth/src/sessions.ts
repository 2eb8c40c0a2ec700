import { Org, RESERVED_SLUGS, ROLE_PERMISSIONS } from '@slipway/contracts/organizations';
import type { SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { currentContext, type Logger } from '@slipway/telemetry';
import { z } from 'zod';
import type { IssuerLogout } from './logout-tokens.js';
import type { Identity, OidcIssuer, Tokens } from './oidc-issuer.js';
import type { SecretBox } from './secret-box/secret-box.js';
import {
  claimRefresh,
  deleteExpiredSessions,
  findSessionOf,
  findSessionsOf,
  findSessionsOfIssuer,
  listSessions,
  neverRefresh,
  type SessionRecord,
  storeTokens,
} from './sessions.queries.js';
import { SeenSessions } from './sessions-seen.js';

/** A signed-in user, as a request or a socket sees them. `orgs[0]` is the personal one. */
export interface SignedIn {
  readonly sessionId: string;
  readonly userId: string;
  readonly name: string;
  readonly email: string | null;
  readonly emailVerified: boolean;
  /** The version of the terms that they have accepted. */
  readonly termsVersion: string | null;
  readonly orgs: readonly Org[];
}

/** The browser that signs in, as far as it says. */
export interface SignInOrigin {
  readonly userAgent: string | null;
  readonly address: string | null;
  /** The session that this browser had before, which ends with the beginning of the new one. */
  readonly replaces: string | null;
}

/** Why sessions end, in the audit's words. `user`: the user ended it. */
const ENDINGS = {
  'signed-out': 'user',
  'ended-by-person': 'user',
  'ended-by-issuer': 'system',
} as const;
type Ending = keyof typeof ENDINGS;

const UNKNOWN_ORIGIN: SignInOrigin = { userAgent: null, address: null, replaces: null };
/** Longest user agent that is kept. Characters. */
const MAX_USER_AGENT = 400;

/** A sign-in lasts this long, whatever happens in between. Milliseconds. */
export const SESSION_LIFE_MS = 30 * 86_400_000;
/** Longest that a sign-out in another replica, or a changed membership, goes unnoticed. Milliseconds. */
const CACHE_MS = 1_000;
const CACHE_SIZE = 10_000;
/**
 * A refresh that failed for want of an answer is tried again after this. Milliseconds; longer than one try may take.
 */
const REFRESH_CLAIM_MS = 15_000;

const StoredTokens = z.object({ idToken: z.string(), refreshToken: z.string().nullable() });
const OrgRows = z.array(Org.omit({ permissions: true }));

interface Entry {
  readonly user: SignedIn;
  readonly readAt: number;
  readonly accessExpiresAt: Date;
  readonly expiresAt: Date;
}

/**
 * The sessions of signed-in browsers, in Postgres. Only these end one: the user, here or with the issuer; the issuer,
 * by a logout token or `invalid_grant`; an admin; its thirty days. An issuer that is slow, down or broken does not.
 */
export class Sessions {
  private readonly cache = new Map<string, Entry>();
  private readonly refreshes = new Map<string, Promise<boolean>>();
  private readonly seen: SeenSessions;
  /** Counts sign-outs: what was read before one is not remembered after it. */
  private endings = 0;

  constructor(
    private readonly pool: SqlPool,
    private readonly box: SecretBox,
    private readonly issuer: Pick<OidcIssuer, 'refresh'>,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly logger: Logger,
    /** Called with each access token that a refresh brings, in the background; must not throw. */
    private readonly refreshed: (userId: string, accessToken: string) => void = () => {},
  ) {
    this.seen = new SeenSessions(pool, clock, logger);
  }

  /**
   * A new session for an identity; its first ever also makes the account and the personal organization. One step with
   * the end of the session before.
   * @throws SlipwayError `account.deactivated`; nothing has begun or ended then.
   */
  async start(
    identity: Identity,
    tokens: Tokens,
    from: SignInOrigin = UNKNOWN_ORIGIN,
  ): Promise<{ sessionId: string; userId: string; expiresAt: Date }> {
    const sessionId = this.ids.prefixed('ses');
    const expiresAt = new Date(this.clock.now().getTime() + SESSION_LIFE_MS);
    const { rows } = await this.pool.query<{ user_id: string }>({
      name: 'start-session',
      text: 'SELECT user_id FROM app.start_session($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)',
      values: [
        identity.issuer,
        identity.subject,
        identity.name,
        identity.email,
        identity.emailVerified,
        this.ids.prefixed('usr'),
        this.ids.prefixed('org'),
        slugOf(identity.name),
        sessionId,
        this.seal(sessionId, tokens),
        this.dueAt(tokens),
        expiresAt,
        from.userAgent?.slice(0, MAX_USER_AGENT) ?? null,
        from.address,
        identity.issuerSession,
        identity.provider,
        from.replaces,
        currentContext()?.requestId ?? null,
        identity.authenticatedAt,
        identity.secondFactor,
      ],
    });
    if (rows[0] === undefined)
      throw new SlipwayError('account.deactivated', 'This account was deactivated by an admin.');
    if (from.replaces !== null) this.forgetAll([from.replaces]);
    await deleteExpiredSessions(this.pool);
    return { sessionId, userId: rows[0].user_id, expiresAt };
  }

  /** Who holds this session, or `null`. One query at most every second; a refresh of the tokens when they are due. */
  async find(sessionId: string): Promise<SignedIn | null> {
    const entry = await this.read(sessionId);
    if (entry === null) return null;
    const { address, refusesTracking } = currentContext() ?? {};
    this.seen.note(sessionId, address ?? null, refusesTracking ?? null);
    // One that runs here has moved the due time on already; whether the session goes on is only known at its end.
    const running = this.refreshes.get(sessionId);
    if (running === undefined && entry.accessExpiresAt.getTime() > this.clock.now().getTime()) return entry.user;
    return (await (running ?? this.refreshOnce(sessionId, entry.accessExpiresAt))) ? entry.user : null;
  }

  /** The same, read now: another replica may have authenticated this user within the last second. */
  async findNow(sessionId: string): Promise<SignedIn | null> {
    this.cache.delete(sessionId);
    return (await this.read(sessionId))?.user ?? null;
  }

  /**
   * Ends the session at once in this process, within a second in others. @returns the id token, for the issuer's own
   * sign-out; `null` when there was no session.
   */
  async end(sessionId: string): Promise<string | null> {
    const [ended] = await this.endEach('signed-out', [sessionId]);
    return ended === undefined ? null : (this.open(sessionId, ended.tokens)?.idToken ?? null);
  }

  /** One session of this user. @returns false when they have none of that id. */
  async endOf(userId: string, sessionId: string): Promise<boolean> {
    return (await this.endEach('ended-by-person', await findSessionOf(this.pool, userId, sessionId))).length > 0;
  }

  /** Every session of this user. @param except one that stays; `null`: none does. @returns how many ended. */
  async endAll(userId: string, except: string | null): Promise<number> {
    return (await this.endEach('ended-by-person', await findSessionsOf(this.pool, userId, except))).length;
  }

  /**
   * Ends what the issuer ended: one session of its own, or all of a user's. No-op when repeated. @returns how many
   * ended.
   */
  async endByIssuer({
    issuer,
    subject,
    issuerSession,
  }: Pick<IssuerLogout, 'issuer' | 'subject' | 'issuerSession'>): Promise<number> {
    const ids = await findSessionsOfIssuer(this.pool, issuer, subject, issuerSession);
    return (await this.endEach('ended-by-issuer', ids)).length;
  }

  /** Sessions of this user that are valid, the last used first. */
  list(userId: string, limit: number): Promise<SessionRecord[]> {
    return listSessions(this.pool, userId, limit);
  }

  /**
   * Drops the cached answer, which the caller has just changed: the next use reads it again. Other processes notice
   * within a second.
   */
  forget(sessionId: string): void {
    this.forgetAll([sessionId]);
  }

  /** Something of this user has changed: the next request here reads it; other replicas do within a second. */
  changed(userId: string): void {
    this.forgetAll([...this.cache].flatMap(([id, { user }]) => (user.userId === userId ? [id] : [])));
  }

  /** Writes what is still to be written. Nothing is seen after it. */
  close(): Promise<void> {
    return this.seen.close();
  }

  private async endEach(why: Ending, ids: readonly string[]): Promise<Array<{ id: string; tokens: Buffer }>> {
    if (ids.length === 0) return [];
    const context = currentContext();
    const { rows } = await this.pool.query<{ id: string; tokens: Buffer }>(
      'SELECT id, tokens FROM app.end_sessions($1, $2, $3, $4, $5)',
      [ids, why, ENDINGS[why], context?.requestId ?? null, context?.address ?? null],
    );
    this.forgetAll(rows.map(({ id }) => id));
    return rows;
  }

  private forgetAll(ids: readonly string[]): void {
    this.endings += 1;
    for (const id of ids) this.cache.delete(id);
  }

  private async read(sessionId: string): Promise<Entry | null> {
    const now = this.clock.now().getTime();
    const known = this.cache.get(sessionId);
    if (known !== undefined && now - known.readAt < CACHE_MS && known.expiresAt.getTime() > now) return known;
    const endings = this.endings;
    const { rows } = await this.pool.query<SessionRow>({
      name: 'find-session',
      text: 'SELECT * FROM app.session_person($1)',
      values: [sessionId],
    });
    this.cache.delete(sessionId);
    const row = rows[0];
    if (row === undefined || row.expires_at.getTime() <= now) return null;
    const orgs = OrgRows.parse(row.orgs).map((org) => ({ ...org, permissions: [...ROLE_PERMISSIONS[org.role]] }));
    const entry: Entry = {
      user: {
        sessionId,
        userId: row.user_id,
        name: row.name,
        email: row.email,
        emailVerified: row.email_verified,
        termsVersion: row.terms_version,
        orgs,
      },
      readAt: now,
      accessExpiresAt: row.access_expires_at,
      expiresAt: row.expires_at,
    };
    // A session has ended here while this was being read, perhaps this one.
    if (this.endings !== endings) return this.read(sessionId);
    const oldest = this.cache.size >= CACHE_SIZE ? this.cache.keys().next() : undefined;
    if (oldest !== undefined && !oldest.done) this.cache.delete(oldest.value);
    this.cache.set(sessionId, entry);
    return entry;
  }

  /**
   * One refresh at a time: callers in this process wait for the one that runs. @returns false when the session is over.
   */
  private refreshOnce(sessionId: string, seen: Date): Promise<boolean> {
    const running = this.refreshes.get(sessionId);
    if (running !== undefined) return running;
    const refresh = this.refresh(sessionId, seen).finally(() => {
      this.cache.delete(sessionId);
      this.refreshes.delete(sessionId);
    });
    this.refreshes.set(sessionId, refresh);
    return refresh;
  }

  /**
   * Across replicas the conditional update decides: it moves the due time on by one claim, so another replica sees
   * fresh tokens and does not refresh, no connection is held while the issuer is asked, and a claim whose replica died
   * or got no answer is simply due again.
   */
  private async refresh(sessionId: string, seen: Date): Promise<boolean> {
    const until = new Date(this.clock.now().getTime() + REFRESH_CLAIM_MS);
    const claimed = await claimRefresh(this.pool, sessionId, seen, until);
    if (claimed === null) return true;
    const stored = this.open(sessionId, Buffer.from(claimed.tokens));
    if (stored === null || stored.refreshToken === null) return this.postpone(sessionId);
    const { refreshToken, idToken } = stored;
    const answer = await this.issuer.refresh({ refreshToken, idToken }).catch((error: unknown) => {
      this.logger.warn({ err: error, sessionId }, 'failed to refresh tokens, session continues');
      return null;
    });
    if (answer === null) return true;
    if (answer === 'refused') {
      await this.endEach('ended-by-issuer', [sessionId]);
      return false;
    }
    await storeTokens(this.pool, sessionId, this.seal(sessionId, answer), this.dueAt(answer));
    this.refreshed(claimed.userId, answer.accessToken);
    return true;
  }

  /** Without a refresh token there is nothing to ask the issuer: the session lasts to its own end. */
  private async postpone(sessionId: string): Promise<boolean> {
    await neverRefresh(this.pool, sessionId);
    return true;
  }

  private dueAt({ accessSeconds }: Tokens): Date {
    return new Date(this.clock.now().getTime() + accessSeconds * 1000);
  }

  private seal(sessionId: string, { idToken, refreshToken }: Tokens): Buffer {
    return this.box.encrypt(JSON.stringify({ idToken, refreshToken }), `session:${sessionId}`);
  }

  /** `null` when ENCRYPTION_KEY was changed since: the session stays, its tokens are of no use any more. */
  private open(sessionId: string, sealed: Buffer): z.infer<typeof StoredTokens> | null {
    try {
      return StoredTokens.parse(JSON.parse(this.box.decrypt(sealed, `session:${sessionId}`)));
    } catch (error) {
      this.logger.warn({ err: error, sessionId }, 'failed to decrypt stored tokens');
      return null;
    }
  }
}

interface SessionRow {
  user_id: string;
  name: string;
  email: string | null;
  email_verified: boolean;
  terms_version: string | null;
  access_expires_at: Date;
  expires_at: Date;
  orgs: unknown;
}

/**
 * A user's name as the address of their organization: lower case, ASCII, at most 40 characters, and never an address of
 * the product itself.
 */
export function slugOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .replace(/[̀-ͯ]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40)
    .replace(/-+$/, '');
  if (slug === '') return 'personal';
  return RESERVED_SLUGS.has(slug) ? `${slug}-org` : slug;
}
