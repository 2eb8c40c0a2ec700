import { Org, RESERVED_SLUGS, ROLE_PERMISSIONS } from '@slipway/contracts';
import type { SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import type { Logger } from '@slipway/telemetry';
import { z } from 'zod';
import type { Identity, OidcIssuer, Tokens } from './oidc-issuer.js';
import type { SecretBox } from './secret-box/secret-box.js';

/** A signed-in person, as a request or a socket sees them. `orgs[0]` is the personal one. */
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

/** A sign-in lasts this long, whatever happens in between. Milliseconds. */
export const SESSION_LIFE_MS = 30 * 86_400_000;
/** Longest that a sign-out in another replica, or a changed membership, goes unnoticed. Milliseconds. */
const CACHE_MS = 1_000;
const CACHE_SIZE = 10_000;
/** A refresh that failed for want of an answer is tried again after this. Milliseconds; longer than one try may take. */
const REFRESH_CLAIM_MS = 15_000;

const StoredTokens = z.object({ idToken: z.string(), refreshToken: z.string().nullable() });
const OrgRows = z.array(Org.omit({ permissions: true }));

interface Entry {
  readonly person: SignedIn;
  readonly readAt: number;
  readonly accessExpiresAt: Date;
  readonly expiresAt: Date;
}

/**
 * The sessions of signed-in browsers, in Postgres.
 * Only three things end one: the person signs out, it is 30 days old, or the issuer says `invalid_grant`. An issuer that is slow, down or broken does not.
 */
export class Sessions {
  private readonly cache = new Map<string, Entry>();
  private readonly refreshes = new Map<string, Promise<boolean>>();
  /** Counts sign-outs: what was read before one is not remembered after it. */
  private endings = 0;

  constructor(
    private readonly pool: SqlPool,
    private readonly box: SecretBox,
    private readonly issuer: Pick<OidcIssuer, 'refresh'>,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly logger: Logger,
  ) {}

  /** A new session for an identity; its first ever also makes the account and the personal organization. */
  async start(identity: Identity, tokens: Tokens): Promise<{ sessionId: string; userId: string; expiresAt: Date }> {
    const userId = await this.signIn(identity);
    const sessionId = this.ids.prefixed('ses');
    const expiresAt = new Date(this.clock.now().getTime() + SESSION_LIFE_MS);
    await this.pool.query('INSERT INTO app.session (id, user_id, tokens, access_expires_at, expires_at) VALUES ($1, $2, $3, $4, $5)', [
      sessionId,
      userId,
      this.seal(sessionId, tokens),
      this.dueAt(tokens),
      expiresAt,
    ]);
    await this.pool.query('DELETE FROM app.session WHERE expires_at < now()');
    return { sessionId, userId, expiresAt };
  }

  /** Who holds this session, or `null`. One query at most every second; a refresh of the tokens when they are due. */
  async find(sessionId: string): Promise<SignedIn | null> {
    const entry = await this.read(sessionId);
    if (entry === null) return null;
    // One that runs here has moved the due time on already; whether the session goes on is only known at its end.
    const running = this.refreshes.get(sessionId);
    if (running === undefined && entry.accessExpiresAt.getTime() > this.clock.now().getTime()) return entry.person;
    return (await (running ?? this.refreshOnce(sessionId, entry.accessExpiresAt))) ? entry.person : null;
  }

  /** Ends the session at once in this process, within a second in others. @returns the id token, for the issuer's own sign-out; `null` when there was no session. */
  async end(sessionId: string): Promise<string | null> {
    const { rows } = await this.pool.query<{ tokens: Buffer }>('DELETE FROM app.session WHERE id = $1 RETURNING tokens', [sessionId]);
    this.endings += 1;
    this.cache.delete(sessionId);
    return rows[0] === undefined ? null : (this.open(sessionId, rows[0].tokens)?.idToken ?? null);
  }

  private async signIn(identity: Identity): Promise<string> {
    const orgId = this.ids.prefixed('org');
    const { rows } = await this.pool.query<{ user_id: string }>('SELECT user_id FROM app.sign_in($1, $2, $3, $4, $5, $6, $7)', [
      identity.issuer,
      identity.subject,
      identity.name,
      identity.email,
      this.ids.prefixed('usr'),
      orgId,
      slugOf(identity.name),
    ]);
    return (rows[0] as { user_id: string }).user_id;
  }

  private async read(sessionId: string): Promise<Entry | null> {
    const now = this.clock.now().getTime();
    const known = this.cache.get(sessionId);
    if (known !== undefined && now - known.readAt < CACHE_MS && known.expiresAt.getTime() > now) return known;
    const endings = this.endings;
    const { rows } = await this.pool.query<SessionRow>({ name: 'find-session', text: 'SELECT * FROM app.session_person($1)', values: [sessionId] });
    this.cache.delete(sessionId);
    const row = rows[0];
    if (row === undefined || row.expires_at.getTime() <= now) return null;
    const orgs = OrgRows.parse(row.orgs).map((org) => ({ ...org, permissions: [...ROLE_PERMISSIONS[org.role]] }));
    const entry: Entry = {
      person: { sessionId, userId: row.user_id, name: row.name, email: row.email, emailVerified: row.email_verified, termsVersion: row.terms_version, orgs },
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

  /** One refresh at a time: callers in this process wait for the one that runs. @returns false when the session is over. */
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
   * Across replicas the conditional update decides: it moves the due time on by one claim, so another replica sees fresh tokens and does not refresh,
   * no connection is held while the issuer is asked, and a claim whose replica died or got no answer is simply due again.
   */
  private async refresh(sessionId: string, seen: Date): Promise<boolean> {
    const until = new Date(this.clock.now().getTime() + REFRESH_CLAIM_MS);
    const { rows } = await this.pool.query<{ tokens: Buffer }>(
      'UPDATE app.session SET access_expires_at = $3 WHERE id = $1 AND access_expires_at = $2 RETURNING tokens',
      [sessionId, seen, until],
    );
    if (rows[0] === undefined) return true;
    const stored = this.open(sessionId, rows[0].tokens);
    if (stored === null || stored.refreshToken === null) return this.postpone(sessionId);
    const { refreshToken, idToken } = stored;
    const answer = await this.issuer.refresh({ refreshToken, idToken }).catch((error: unknown) => {
      this.logger.warn({ err: error, sessionId }, 'tokens were not refreshed; the session goes on');
      return null;
    });
    if (answer === null) return true;
    if (answer === 'refused') {
      await this.pool.query('DELETE FROM app.session WHERE id = $1', [sessionId]);
      this.endings += 1;
      return false;
    }
    await this.pool.query('UPDATE app.session SET tokens = $2, access_expires_at = $3 WHERE id = $1', [
      sessionId,
      this.seal(sessionId, answer),
      this.dueAt(answer),
    ]);
    return true;
  }

  /** Without a refresh token there is nothing to ask the issuer: the session lives to its own end. */
  private async postpone(sessionId: string): Promise<boolean> {
    await this.pool.query('UPDATE app.session SET access_expires_at = expires_at WHERE id = $1', [sessionId]);
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
      this.logger.warn({ err: error, sessionId }, 'stored tokens cannot be read');
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

/** A person's name as the address of their organization: lower case, ASCII, at most 40 characters, and never an address of the product itself. */
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
