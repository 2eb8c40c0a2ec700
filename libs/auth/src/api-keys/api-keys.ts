import { timingSafeEqual } from 'node:crypto';
import { API_KEY_OWNERS } from '@slipway/contracts/identity';
import {
  PERMISSIONS,
  type Permission,
  permissionsOfKey,
  ROLE_PERMISSIONS,
  ROLES,
  type Role,
} from '@slipway/contracts/organizations';
import type { SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import { z } from 'zod';
import { parseApiKey } from './api-key-token.js';

/** An API key whose secret was shown, with what it may do at this moment. */
export interface AuthenticatedKey {
  readonly keyId: string;
  /** The one organization that it reaches. */
  readonly org: {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
    readonly kind: 'personal' | 'company';
  };
  readonly owner: {
    readonly kind: (typeof API_KEY_OWNERS)[number];
    readonly id: string;
    readonly label: string;
    readonly email: string | null;
    readonly emailVerified: boolean;
    /** Version of the terms of service that the user has accepted; `null` for a service account. */
    readonly termsVersion: string | null;
  };
  /** The owner's role now. */
  readonly role: Role;
  readonly scopes: readonly Permission[];
  /** The scopes that the owner holds now. */
  readonly permissions: ReadonlySet<Permission>;
  readonly expiresAt: Date;
}

/** Longest that a revocation in another replica, or an owner's changed role, goes unnoticed. Milliseconds. */
const CACHE_MS = 1_000;
const CACHE_SIZE = 10_000;

const QUERY = `SELECT k.*, (SELECT u.terms_version FROM app.user_account u WHERE k.owner_kind = 'user' AND u.id = k.owner_id) AS owner_terms_version
  FROM app.find_api_key($1) k`;

const Row = z.object({
  id: z.string(),
  org_id: z.string(),
  org_slug: z.string(),
  org_name: z.string(),
  org_kind: z.enum(['personal', 'company']),
  owner_kind: z.enum(API_KEY_OWNERS),
  owner_id: z.string(),
  owner_label: z.string(),
  owner_email: z.string().nullable(),
  owner_email_verified: z.boolean(),
  owner_terms_version: z.string().nullable(),
  role: z.enum(ROLES),
  /** Open: one that a newer version has written grants nothing here. */
  scopes: z.array(z.string()),
  hash: z.instanceof(Buffer),
  not_before: z.date().nullable(),
  expires_at: z.date(),
});

interface Known {
  readonly key: AuthenticatedKey;
  readonly hash: Buffer;
  readonly notBefore: Date | null;
}
interface Entry {
  readonly readAt: number;
  /** `null`: there is none, or it is good for nothing. */
  readonly known: Known | null;
}

/**
 * Token → key. At most one query per key and second, shared by concurrent callers; none for a malformed token. Refuses
 * all keys while the database does not answer.
 */
export class ApiKeys {
  private readonly cache = new Map<string, Entry>();
  private readonly reads = new Map<string, Promise<Entry>>();
  /** Counts `forget`: what was read before one is not remembered after it. */
  private changes = 0;

  constructor(
    private readonly pool: Pick<SqlPool, 'query'>,
    private readonly clock: Clock,
  ) {}

  /**
   * The key that this token is of, or `null`: no token, none of ours, revoked, expired, not yet valid, or its owner is
   * not there any more.
   */
  async find(token: string): Promise<AuthenticatedKey | null> {
    const parsed = parseApiKey(token);
    if (parsed === null) return null;
    const now = this.clock.now().getTime();
    const cached = this.cache.get(parsed.id);
    const fresh = cached !== undefined && now - cached.readAt < CACHE_MS && now >= cached.readAt;
    const { known } = fresh ? cached : await this.read(parsed.id);
    if (known === null || !timingSafeEqual(known.hash, parsed.hash)) return null;
    if (known.key.expiresAt.getTime() <= now || (known.notBefore !== null && known.notBefore.getTime() > now))
      return null;
    return known.key;
  }

  /** What was read of this key is read again: it was changed here. */
  forget(keyId: string): void {
    this.changes += 1;
    this.cache.delete(keyId);
    this.reads.delete(keyId);
  }

  private read(id: string): Promise<Entry> {
    const running = this.reads.get(id);
    if (running !== undefined) return running;
    const changes = this.changes;
    const read = this.query(id)
      .then((entry) => {
        if (this.changes === changes) this.remember(id, entry);
        return entry;
      })
      .finally(() => {
        if (this.reads.get(id) === read) this.reads.delete(id);
      });
    this.reads.set(id, read);
    return read;
  }

  private async query(id: string): Promise<Entry> {
    const readAt = this.clock.now().getTime();
    const { rows } = await this.pool.query({ name: 'find-api-key', text: QUERY, values: [id] });
    if (rows[0] === undefined) return { readAt, known: null };
    const row = Row.parse(rows[0]);
    const scopes = PERMISSIONS.filter((permission) => row.scopes.includes(permission));
    const key: AuthenticatedKey = {
      keyId: row.id,
      org: { id: row.org_id, slug: row.org_slug, name: row.org_name, kind: row.org_kind },
      owner: {
        kind: row.owner_kind,
        id: row.owner_id,
        label: row.owner_label,
        email: row.owner_email,
        emailVerified: row.owner_email_verified,
        termsVersion: row.owner_terms_version,
      },
      role: row.role,
      scopes,
      permissions: permissionsOfKey(scopes, new Set<Permission>(ROLE_PERMISSIONS[row.role])),
      expiresAt: row.expires_at,
    };
    return { readAt, known: { key, hash: row.hash, notBefore: row.not_before } };
  }

  private remember(id: string, entry: Entry): void {
    this.cache.delete(id);
    const oldest = this.cache.size >= CACHE_SIZE ? this.cache.keys().next() : undefined;
    if (oldest !== undefined && !oldest.done) this.cache.delete(oldest.value);
    this.cache.set(id, entry);
  }
}
