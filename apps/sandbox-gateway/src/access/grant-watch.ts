import { type Permission, ROLE_PERMISSIONS } from '@slipway/contracts/organizations';
import { type SandboxAccessClaims } from '@slipway/contracts/sandboxes';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import type { LiveGrant } from './grants.queries.js';

/**
 * Oldest answer of the database that lets anybody in. Milliseconds, counted from when it was asked: this is the promise
 * that a revoked token is refused within a second.
 */
export const MAX_AGE_MS = 1_000;
/** Check interval of every grant in use, with or without notifications. Milliseconds. */
const LOOK_EVERY_MS = 400;
/** A grant that is not used for this long is no longer checked. Milliseconds; its next use checks first. */
const IDLE_MS = 10_000;
/** Grants that hold no longer are remembered, so that showing an ended token costs no query. The oldest goes first. */
const MAX_ENDED = 10_000;
const NEEDED: Permission = 'sandbox:access';

/**
 * Result for a use of a grant: `ended` when it was revoked or is over, `unknown` when no check succeeded for the whole
 * grace.
 */
export type EndOfUse = 'ended' | 'unknown';

interface Entry {
  /** The last answer, and when it was asked for. */
  grant: LiveGrant;
  askedAt: number;
  usedAt: number;
  readonly uses: Set<(why: EndOfUse) => void>;
}

/**
 * Whether grants still hold: for new requests, and for what is open.
 *
 * A request is admitted on an answer of the database that is at most a second old; an older one is refreshed first.
 * Without an answer:
 * - a new request is refused (`service.unavailable`): it fails closed, because a user who was shut out must stay out;
 * - what is open goes on for the grace and is then closed: a database that fails over in seconds should cost no user
 * their terminal.
 */
export class GrantWatch {
  private readonly entries = new Map<string, Entry>();
  private readonly ended = new Set<string>();
  private readonly asking = new Map<string, Promise<LiveGrant | null>>();
  private readonly timer: NodeJS.Timeout;
  private looking: Promise<void> | null = null;
  private again = false;

  /** @param options.look reads the database; must answer or reject within a second. `graceMs`: see above. */
  constructor(
    private readonly options: {
      readonly look: (ids: readonly string[]) => Promise<LiveGrant[]>;
      readonly graceMs: number;
      readonly logger: Logger;
    },
  ) {
    this.timer = setInterval(() => void this.lookAtAll(), LOOK_EVERY_MS);
    this.timer.unref();
  }

  /**
   * The grant behind a token, when it holds. Synchronous for one that is in use. @throws SlipwayError `auth.missing`,
   * `service.unavailable`
   */
  admit(claims: SandboxAccessClaims): LiveGrant | Promise<LiveGrant> {
    const entry = this.entries.get(claims.jti);
    const now = performance.now();
    if (entry !== undefined && now - entry.askedAt < MAX_AGE_MS) {
      entry.usedAt = now;
      return checked(entry.grant, claims);
    }
    return this.find(claims.jti).then((grant) => checked(grant, claims));
  }

  /** The grant with this id as of now. @throws as `admit` */
  async find(id: string): Promise<LiveGrant> {
    if (this.ended.has(id)) throw over();
    const running = this.asking.get(id) ?? this.ask(id);
    this.asking.set(id, running);
    const grant = await running.catch((error: unknown) => {
      throw new SlipwayError(
        'service.unavailable',
        'Whether your access still holds cannot be checked now: the database does not answer.',
        {
          cause: error,
          retryAfterSeconds: 1,
        },
      );
    });
    if (grant === null) throw over();
    return grant;
  }

  /**
   * Something goes on under this grant: `end` is called once, when it must not any more. The answer says that it is
   * over by itself.
   */
  use(grant: LiveGrant, end: (why: EndOfUse) => void): () => void {
    const entry = this.entries.get(grant.id);
    if (entry === undefined) {
      // It has ended between being let in and this.
      end('ended');
      return () => {};
    }
    entry.uses.add(end);
    return () => {
      entry.uses.delete(end);
      entry.usedAt = performance.now();
    };
  }

  /** Something has changed: every grant in use is checked now. */
  changed(): void {
    if (this.looking === null) void this.lookAtAll();
    else this.again = true;
  }

  close(): void {
    clearInterval(this.timer);
    for (const entry of this.entries.values()) entry.uses.clear();
    this.entries.clear();
  }

  private async ask(id: string): Promise<LiveGrant | null> {
    const askedAt = performance.now();
    try {
      const [grant] = await this.options.look([id]);
      this.learn(id, grant, askedAt);
      return grant !== undefined && mayAccess(grant) ? grant : null;
    } finally {
      this.asking.delete(id);
    }
  }

  private lookAtAll(): Promise<void> {
    this.looking ??= this.look().finally(() => {
      this.looking = null;
      if (!this.again) return;
      this.again = false;
      void this.lookAtAll();
    });
    return this.looking;
  }

  private async look(): Promise<void> {
    const askedAt = performance.now();
    for (const [id, entry] of this.entries)
      if (entry.uses.size === 0 && askedAt - entry.usedAt > IDLE_MS) this.entries.delete(id);
    if (this.entries.size === 0) return;
    const ids = [...this.entries.keys()];
    try {
      const known = new Map((await this.options.look(ids)).map((grant) => [grant.id, grant]));
      for (const id of ids) this.learn(id, known.get(id), askedAt);
    } catch (error) {
      this.options.logger.warn({ err: error }, 'access check failed, will retry');
      const now = performance.now();
      for (const [id, entry] of this.entries)
        if (now - entry.askedAt > this.options.graceMs) this.drop(id, entry, 'unknown');
    }
  }

  private learn(id: string, grant: LiveGrant | undefined, askedAt: number): void {
    const entry = this.entries.get(id);
    if (grant === undefined || !mayAccess(grant)) {
      // A role may be given back; what is gone never comes back.
      if (grant === undefined) this.remember(id);
      if (entry !== undefined) this.drop(id, entry, 'ended');
    } else if (entry === undefined) this.entries.set(id, { grant, askedAt, usedAt: askedAt, uses: new Set() });
    else if (askedAt > entry.askedAt) {
      entry.grant = grant;
      entry.askedAt = askedAt;
    }
  }

  private drop(id: string, entry: Entry, why: EndOfUse): void {
    this.entries.delete(id);
    for (const end of entry.uses) end(why);
    entry.uses.clear();
  }

  private remember(id: string): void {
    this.ended.add(id);
    const [oldest] = this.ended;
    if (this.ended.size > MAX_ENDED && oldest !== undefined) this.ended.delete(oldest);
  }
}

function mayAccess(grant: LiveGrant): boolean {
  return (ROLE_PERMISSIONS[grant.role] as readonly Permission[] | undefined)?.includes(NEEDED) === true;
}

/** A signed token says the same as its row; should they ever differ, neither is believed. */
function checked(grant: LiveGrant, claims: SandboxAccessClaims): LiveGrant {
  if (
    grant.orgId === claims.org &&
    grant.userId === claims.sub &&
    grant.conversation === claims.conversation &&
    grant.port === claims.port
  )
    return grant;
  throw over();
}

function over(): SlipwayError {
  return new SlipwayError('auth.missing', 'This access has ended. Ask for another one if you may still have it.');
}
