import { Inject, Injectable } from '@nestjs/common';
import { ApiKeys, makeApiKey } from '@slipway/auth';
import {
  type ApiKey,
  type CreateApiKey,
  type CreatedApiKey,
  DEFAULT_API_KEY_DAYS,
  type ListApiKeysQuery,
  MAX_API_KEY_DAYS,
  MAX_LIVE_API_KEYS,
} from '@slipway/contracts/identity';
import { type Permission, type Principal, ROLE_PERMISSIONS } from '@slipway/contracts/organizations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { auditOf } from '../../audit/audit-statement.js';
import type { Config } from '../../config.js';
import { revokeInvitationsOfKeys } from '../../organizations/invitations/inviter-rights.queries.js';
import { CLOCK, CONFIG, IDS, SQL_POOL } from '../../platform/tokens.js';
import { readServiceAccount } from '../service-accounts/service-accounts.queries.js';
import {
  type ApiKeyRow,
  countLiveApiKeys,
  insertApiKey,
  listApiKeys,
  liveDescendants,
  lockApiKey,
  type NewApiKeyRow,
  readApiKey,
  renameApiKey,
  replaceApiKey,
  revokeApiKey,
  revokeDescendants,
  toApiKey,
} from './api-keys.queries.js';

const DAY_MS = 86_400_000;
const KEY_ID = /^key_[0-9a-z]{26}$/;

/** What a new key is, before it has an id and a secret. */
type Draft = Pick<NewApiKeyRow, 'name' | 'ownerKind' | 'ownerId' | 'scopes' | 'notBefore' | 'expiresAt'>;

interface PutKey {
  readonly draft: Draft;
  readonly action: 'api-key.create' | 'api-key.rotate';
  readonly more: Readonly<Record<string, unknown>>;
}

/**
 * Keys of users and of service accounts. No token can do more than its creator at that moment: not by making one, not
 * by rotating one, and no token that acts as another user, whatever their role. What a key may do is cut again at each
 * use (`libs/auth`).
 */
@Injectable()
export class ApiKeysService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CONFIG) private readonly config: Config,
    private readonly known: ApiKeys,
  ) {}

  /**
   * @throws SlipwayError `permission.denied` for those of all users without `api-key:manage`, or a service account's
   * without `service-account:read`.
   */
  async list(
    caller: Principal,
    query: ListApiKeysQuery,
  ): Promise<{ data: ApiKey[]; page: { nextCursor: string | null } }> {
    if (query.all === 'true') needs(caller, 'api-key:manage');
    else if (query.serviceAccountId !== undefined) needs(caller, 'service-account:read');
    if (query.cursor !== undefined && !KEY_ID.test(query.cursor)) {
      throw new SlipwayError('request.invalid', 'The cursor is none of this list.', {
        fields: [{ path: 'cursor', message: 'is none of this list' }],
      });
    }
    const ownerId = query.serviceAccountId ?? (query.all === 'true' ? null : caller.actor.id);
    const rows = await inOrg(this.pool, caller.orgId, (client) =>
      listApiKeys(client, caller.orgId, this.clock.now(), {
        ownerId,
        state: query.state ?? null,
        before: query.cursor ?? null,
        limit: query.limit,
      }),
    );
    const page = rows.slice(0, query.limit);
    return {
      data: page.map(toApiKey),
      page: { nextCursor: rows.length > page.length ? (page.at(-1)?.id ?? null) : null },
    };
  }

  /** @throws SlipwayError `resource.not-found`, also for another's key that the caller may not know of. */
  async get(caller: Principal, id: string): Promise<ApiKey> {
    const row = await inOrg(this.pool, caller.orgId, (client) =>
      readApiKey(client, caller.orgId, this.clock.now(), id),
    );
    return toApiKey(seen(caller, row));
  }

  /**
   * @throws SlipwayError `request.invalid`, `api-key.scope-too-wide`, `api-key.limit`, `resource.not-found` for the
   * service account.
   */
  async create(caller: Principal, wanted: CreateApiKey): Promise<CreatedApiKey> {
    const times = this.timesOf(wanted);
    if (wanted.serviceAccountId !== undefined) needs(caller, 'service-account:write');
    else if (caller.actor.kind !== 'user' && caller.actor.kind !== 'service-account')
      throw new SlipwayError('permission.denied', 'Only people and service accounts have keys.');
    assertWithin(wanted.scopes, caller.permissions, 'you do not have');
    return inOrg(this.pool, caller.orgId, async (client) => {
      const { name, scopes, serviceAccountId } = wanted;
      if (wanted.expiresAt !== undefined) await this.assertNotBeyondParent(client, caller, times.expiresAt);
      if (serviceAccountId === undefined) {
        const ownerKind = caller.actor.kind === 'user' ? 'user' : 'service-account';
        return this.insert(client, caller, { name, scopes, ownerKind, ownerId: caller.actor.id, ...times });
      }
      const account = await readServiceAccount(client, caller.orgId, serviceAccountId);
      if (account === null) throw notFound();
      assertWithin(scopes, new Set<Permission>(ROLE_PERMISSIONS[account.role]), `the service account does not have`);
      return this.insert(client, caller, { name, scopes, ownerKind: 'service-account', ownerId: account.id, ...times });
    });
  }

  /**
   * Makes the key in a transaction of the caller's organization: checks the number, records it. @throws SlipwayError
   * `api-key.limit`
   */
  async insert(
    client: PoolClient,
    caller: Pick<Principal, 'orgId' | 'actor'>,
    draft: Draft,
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<CreatedApiKey> {
    const now = this.clock.now();
    if ((await countLiveApiKeys(client, caller.orgId, draft.ownerId, now)) >= MAX_LIVE_API_KEYS) {
      throw new SlipwayError('api-key.limit', `There are ${MAX_LIVE_API_KEYS} keys of this owner already.`);
    }
    return this.put(client, caller, { draft, action: 'api-key.create', more });
  }

  async rename(caller: Principal, id: string, name: string): Promise<ApiKey> {
    return inOrg(this.pool, caller.orgId, async (client) => {
      const row = changeable(caller, await lockApiKey(client, caller.orgId, this.clock.now(), id));
      if (row.name !== name) {
        await renameApiKey(client, caller.orgId, id, name);
        await client.query(
          auditOf(this.ids.uuid(), caller, {
            action: 'api-key.rename',
            target: id,
            before: { name: row.name },
            after: { name },
          }),
        );
      }
      return toApiKey({ ...row, name });
    });
  }

  /**
   * What was made with it ends too, invitations included: also with one that has ended before, since whoever had stolen
   * it may have rotated it at once and holds what it made. Without anything to end it changes nothing.
   */
  async revoke(caller: Principal, id: string): Promise<void> {
    const now = this.clock.now();
    const ended = await inOrg(this.pool, caller.orgId, async (client) => {
      const row = changeable(caller, await lockApiKey(client, caller.orgId, now, id));
      const before = await liveDescendants(client, caller.orgId, [id], now);
      if (row.revoked_at === null) await revokeApiKey(client, caller.orgId, id, now);
      const children = [...new Set([...before, ...(await revokeDescendants(client, caller.orgId, id, now))])];
      if (row.revoked_at !== null && children.length === 0) return;
      await revokeInvitationsOfKeys(client, caller.orgId, [id, ...children]);
      const detail = {
        name: row.name,
        ownerId: row.owner_id,
        ...(children.length === 0 ? {} : { alsoRevoked: children }),
      };
      await client.query(auditOf(this.ids.uuid(), caller, { action: 'api-key.revoke', target: id, detail }));
      return children;
    });
    for (const key of [id, ...(ended ?? [])]) this.known.forget(key);
  }

  /**
   * A new key with the same name, scopes and length of life; the old one ends after the overlap, or at its own end if
   * that is sooner. Rotated with a key, the new one ends no later than that key.
   * @throws SlipwayError `api-key.not-live` when there is nothing to go on, `permission.denied` for another user's,
   * `api-key.scope-too-wide`.
   */
  async rotate(caller: Principal, id: string, overlapSeconds: number): Promise<CreatedApiKey> {
    const now = this.clock.now();
    const made = await inOrg(this.pool, caller.orgId, async (client) => {
      const row = changeable(caller, await lockApiKey(client, caller.orgId, now, id));
      const own = row.owner_id === caller.actor.id;
      if (!own && row.owner_kind === 'user')
        throw new SlipwayError(
          'permission.denied',
          'The new token would act as another user. Only they can rotate it; you can revoke it.',
        );
      if (row.replaced_by !== null || (row.state !== 'active' && row.state !== 'pending')) {
        throw new SlipwayError(
          'api-key.not-live',
          row.replaced_by === null
            ? `The key is ${row.state}.`
            : `The key was rotated already; the new one is ${row.replaced_by}.`,
        );
      }
      const { name, owner_kind: ownerKind, owner_id: ownerId } = row;
      const { scopes } = toApiKey(row);
      // A user signed in may renew what they have, also where their role is lower now; a key, and who acts for a
      // service account, gets no more than they have.
      if (!own || caller.actor.viaKey !== undefined) assertWithin(scopes, caller.permissions, 'you do not have');
      const wanted = now.getTime() + (row.expires_at.getTime() - row.created_at.getTime());
      // A key does not prolong itself: whoever has stolen one would keep it for ever.
      const expiresAt = new Date(caller.actor.viaKey === id ? Math.min(wanted, row.expires_at.getTime()) : wanted);
      const key = await this.put(client, caller, {
        draft: { name, ownerKind, ownerId, scopes, notBefore: null, expiresAt },
        action: 'api-key.rotate',
        more: {
          replaces: id,
          overlapSeconds,
        },
      });
      await replaceApiKey(client, caller.orgId, id, {
        by: key.id,
        now,
        until: overlapSeconds === 0 ? null : new Date(now.getTime() + overlapSeconds * 1_000),
      });
      return key;
    });
    this.known.forget(id);
    return made;
  }

  private async put(
    client: PoolClient,
    caller: Pick<Principal, 'orgId' | 'actor'>,
    { draft, action, more }: PutKey,
  ): Promise<CreatedApiKey> {
    const id = this.ids.prefixed('key');
    const { token, ...stored } = makeApiKey(this.config.NODE_ENV === 'production' ? 'live' : 'dev', id);
    const now = this.clock.now();
    const madeByKey = caller.actor.viaKey ?? null;
    await insertApiKey(client, caller.orgId, {
      id,
      ...draft,
      ...stored,
      createdBy: caller.actor.id,
      createdByLabel: caller.actor.label,
      createdAt: now,
      madeByKey,
    });
    const row = await readApiKey(client, caller.orgId, now, id);
    if (row === null)
      throw new SlipwayError('internal.unexpected', 'Quote the request id to support.', {
        internal: `the API key ${id} is not there after its insert`,
      });
    if (row.revoked_at !== null)
      throw new SlipwayError('auth.missing', 'The key that makes this one has been revoked.');
    const { name, scopes, ownerKind, ownerId } = draft;
    const detail = {
      name,
      scopes,
      ownerKind,
      ownerId,
      expiresAt: row.expires_at.toISOString(),
      ...(madeByKey === null ? {} : { madeByKey }),
      ...more,
    };
    await client.query(auditOf(this.ids.uuid(), caller, { action, target: id, detail }));
    return { ...toApiKey(row), token };
  }

  /** @throws SlipwayError `request.invalid`: a key's end bounds the ends of those that it makes. */
  private async assertNotBeyondParent(client: PoolClient, { orgId, actor }: Principal, expiresAt: Date): Promise<void> {
    if (actor.viaKey === undefined) return;
    const parent = await readApiKey(client, orgId, this.clock.now(), actor.viaKey);
    if (parent === null || expiresAt.getTime() <= parent.expires_at.getTime()) return;
    const message = `is after the end of the key that makes it, ${parent.expires_at.toISOString()}`;
    throw new SlipwayError('request.invalid', `expiresAt: ${message}`, { fields: [{ path: 'expiresAt', message }] });
  }

  private timesOf({ notBefore, expiresAt }: CreateApiKey): Pick<Draft, 'notBefore' | 'expiresAt'> {
    const now = this.clock.now().getTime();
    const from = notBefore === undefined ? null : new Date(notBefore);
    const until = new Date(
      expiresAt === undefined ? Math.max(now, from?.getTime() ?? 0) + DEFAULT_API_KEY_DAYS * DAY_MS : expiresAt,
    );
    const wrong = (path: string, message: string): SlipwayError =>
      new SlipwayError('request.invalid', `${path}: ${message}`, { fields: [{ path, message }] });
    if (until.getTime() <= now) throw wrong('expiresAt', 'is over');
    if (from !== null && from.getTime() >= until.getTime()) throw wrong('notBefore', 'is not before expiresAt');
    if (until.getTime() > now + MAX_API_KEY_DAYS * DAY_MS)
      throw wrong(
        expiresAt === undefined ? 'notBefore' : 'expiresAt',
        `is more than ${MAX_API_KEY_DAYS} days from now`,
      );
    return { notBefore: from, expiresAt: until };
  }
}

function needs(caller: Principal, permission: Permission): void {
  if (!caller.permissions.has(permission))
    throw new SlipwayError('permission.denied', `This needs the permission ${permission}.`);
}

/**
 * One's own, those of all users with `api-key:manage`, a service account's with `service-account:read`; anything else
 * is answered as missing.
 */
function seen(caller: Principal, row: ApiKeyRow | null): ApiKeyRow {
  if (row === null) throw notFound();
  const may =
    row.owner_id === caller.actor.id ||
    caller.permissions.has('api-key:manage') ||
    (row.owner_kind === 'service-account' && caller.permissions.has('service-account:read'));
  if (!may) throw notFound();
  return row;
}

/** One's own, those of all users with `api-key:manage`, a service account's with `service-account:write`. */
function changeable(caller: Principal, row: ApiKeyRow | null): ApiKeyRow {
  const key = seen(caller, row);
  if (key.owner_id === caller.actor.id || caller.permissions.has('api-key:manage')) return key;
  needs(caller, 'service-account:write');
  return key;
}

/** @throws SlipwayError `api-key.scope-too-wide` that names what is too much. */
export function assertWithin(scopes: readonly Permission[], held: ReadonlySet<Permission>, whose: string): void {
  const missing = scopes.filter((scope) => !held.has(scope));
  if (missing.length > 0)
    throw new SlipwayError(
      'api-key.scope-too-wide',
      `The scopes have permissions that ${whose}: ${missing.join(', ')}.`,
    );
}
