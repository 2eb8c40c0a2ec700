import { Inject, Injectable } from '@nestjs/common';
import { PrincipalService, type SignedIn } from '@slipway/auth';
import {
  type ApproveDevice,
  DEFAULT_API_KEY_DAYS,
  DEVICE_CODE_SECONDS,
  DEVICE_POLL_SECONDS,
  type DeviceAuthorization,
  type DeviceProblem,
  type DeviceRequest,
  type DeviceToken,
  MAX_LIVE_API_KEYS,
  normalUserCode,
} from '@slipway/contracts/identity';
import { PERMISSIONS, type Permission, permissionsOfKey, ROLE_PERMISSIONS } from '@slipway/contracts/organizations';
import { asSystem, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { auditOf } from '../../audit/audit-statement.js';
import type { Config } from '../../config.js';
import { CLOCK, CONFIG, IDS, SQL_POOL } from '../../platform/tokens.js';
import { countLiveApiKeys } from '../api-keys/api-keys.queries.js';
import { ApiKeysService, assertWithin } from '../api-keys/api-keys.service.js';
import {
  approve,
  type DeviceRow,
  insertDevice,
  lockByDeviceCode,
  lockWaiting,
  noteAsked,
  readApprover,
  setState,
} from './device.queries.js';
import { hashDeviceCode, hashUserCode, makeDeviceCode, makeUserCode, shownUserCode } from './device-codes.js';

const DAY_MS = 86_400_000;
/** RFC 8628: who asks too often waits so much longer from then on. Seconds. */
const SLOWER_BY_SECONDS = 5;
/** A fresh user code that is taken is drawn again. */
const DRAWS = 3;

/** OAuth's way of saying no. */
export class DeviceRefusal extends Error {
  override readonly name = 'DeviceRefusal';
  constructor(
    readonly code: DeviceProblem['error'],
    description: string,
  ) {
    super(description);
  }
}

function unnamedScopes(): SlipwayError {
  const message = 'is needed: the program asked for no permission, so the approval names them';
  return new SlipwayError('request.invalid', `scopes: ${message}`, { fields: [{ path: 'scopes', message }] });
}

/**
 * The device flow. What a user approves is kept, not a key: that is made when the device fetches it, of what the user
 * may do at that moment, so that no token is ever stored. Codes are kept as hashes. A process that dies between the key
 * and the answer leaves an unused key; the user revokes it, and the device starts again.
 */
@Injectable()
export class DeviceService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CONFIG) private readonly config: Config,
    private readonly keys: ApiKeysService,
    private readonly principals: PrincipalService,
  ) {}

  /** @throws DeviceRefusal `invalid_scope` for a permission that there is not. */
  async authorize(client: string, scope: string, address: string | null): Promise<DeviceAuthorization> {
    const asked = new Set(scope.split(' ').filter((word) => word !== ''));
    const unknown = [...asked].filter((word) => !(PERMISSIONS as readonly string[]).includes(word));
    if (unknown.length > 0)
      throw new DeviceRefusal('invalid_scope', `There is no permission ${unknown[0]?.slice(0, 60)}.`);
    const now = this.clock.now();
    const deviceCode = makeDeviceCode();
    for (let draw = 0; draw < DRAWS; draw += 1) {
      const userCode = makeUserCode();
      const made = await this.asSystem('a device asks to be let in', (sql) =>
        insertDevice(sql, {
          id: this.ids.uuid(),
          deviceCodeHash: hashDeviceCode(deviceCode),
          userCodeHash: hashUserCode(userCode, this.config.ENCRYPTION_KEY),
          client,
          scopes: PERMISSIONS.filter((permission) => asked.has(permission)),
          address,
          createdAt: now,
          expiresAt: new Date(now.getTime() + DEVICE_CODE_SECONDS * 1_000),
          intervalSeconds: DEVICE_POLL_SECONDS,
        }),
      );
      if (!made) continue;
      const shown = shownUserCode(userCode);
      const page = new URL('/device', this.config.PUBLIC_URL);
      const complete = new URL(page);
      complete.searchParams.set('user_code', shown);
      return {
        device_code: deviceCode,
        user_code: shown,
        verification_uri: page.href,
        verification_uri_complete: complete.href,
        expires_in: DEVICE_CODE_SECONDS,
        interval: DEVICE_POLL_SECONDS,
      };
    }
    throw new SlipwayError('service.unavailable', 'No free code was found; try again.', { retryAfterSeconds: 1 });
  }

  /** The key, once. @throws DeviceRefusal with what the device is to do. */
  async token(deviceCode: string): Promise<DeviceToken> {
    // What is decided is committed also where it is a refusal.
    const outcome = await this.asSystem('a device fetches its key', (sql) => this.decide(sql, deviceCode));
    if (outcome instanceof DeviceRefusal) throw outcome;
    return outcome;
  }

  /** @throws SlipwayError `resource.not-found` for a code without a waiting device. */
  async request(userCode: string): Promise<DeviceRequest> {
    const row = await this.asSystem('a user views a device', (sql) => this.waiting(sql, userCode));
    return {
      userCode: shownUserCode(normalUserCode(userCode) ?? ''),
      client: row.client,
      scopes: row.scopes,
      address: row.address,
      createdAt: row.created_at.toISOString(),
      expiresAt: row.expires_at.toISOString(),
    };
  }

  /**
   * @throws SlipwayError `request.invalid` when neither side names a scope, `resource.not-found` for code or
   * organization, `permission.denied`, `api-key.scope-too-wide`, `api-key.limit`.
   */
  async approve(user: SignedIn, userCode: string, wanted: ApproveDevice): Promise<void> {
    const caller = this.principals.principalFor(user, wanted.org);
    if (!caller.permissions.has('api-key:write'))
      throw new SlipwayError('permission.denied', 'This needs the permission api-key:write.');
    if (wanted.scopes !== undefined) assertWithin(wanted.scopes, caller.permissions, 'you do not have');
    await this.asSystem('a user approves a device', async (sql) => {
      const row = await this.waiting(sql, userCode);
      const asked = wanted.scopes ?? row.scopes;
      if (asked.length === 0) throw unnamedScopes();
      const scopes = [...permissionsOfKey(asked, caller.permissions)];
      if (scopes.length === 0)
        throw new SlipwayError(
          'api-key.scope-too-wide',
          `You have none of the permissions that it asks for: ${asked.join(', ')}.`,
        );
      if ((await countLiveApiKeys(sql, caller.orgId, user.userId, this.clock.now())) >= MAX_LIVE_API_KEYS) {
        throw new SlipwayError('api-key.limit', `You have ${MAX_LIVE_API_KEYS} keys already.`);
      }
      const days = wanted.expiresInDays ?? DEFAULT_API_KEY_DAYS;
      await approve(sql, row.id, { orgId: caller.orgId, userId: user.userId, scopes, days });
      await sql.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'device.approve',
          target: row.id,
          detail: { client: row.client, address: row.address, scopes, days },
        }),
      );
    });
  }

  async deny(userCode: string): Promise<void> {
    await this.asSystem('a user refuses a device', async (sql) =>
      setState(sql, (await this.waiting(sql, userCode)).id, 'denied'),
    );
  }

  private async decide(sql: PoolClient, deviceCode: string): Promise<DeviceToken | DeviceRefusal> {
    const row = await lockByDeviceCode(sql, hashDeviceCode(deviceCode));
    const now = this.clock.now();
    if (row === null || row.state === 'delivered')
      return new DeviceRefusal('invalid_grant', 'There is no such device code, or its key was fetched already.');
    if (row.state === 'denied') return new DeviceRefusal('access_denied', 'The user refused.');
    if (row.expires_at.getTime() <= now.getTime())
      return new DeviceRefusal('expired_token', 'No user approved in time; ask for another code.');
    if (row.state === 'approved') return this.deliver(sql, row, now);
    const early =
      row.last_asked_at !== null && now.getTime() - row.last_asked_at.getTime() < row.interval_seconds * 1_000;
    const interval = row.interval_seconds + (early ? SLOWER_BY_SECONDS : 0);
    await noteAsked(sql, row.id, now, interval);
    return early
      ? new DeviceRefusal('slow_down', `Ask no more often than every ${interval} seconds.`)
      : new DeviceRefusal('authorization_pending', 'The user has not decided yet.');
  }

  private async deliver(sql: PoolClient, row: DeviceRow, now: Date): Promise<DeviceToken | DeviceRefusal> {
    const { org_id: orgId, user_id: userId, granted, key_days: days } = row;
    const approver = orgId === null || userId === null ? null : await readApprover(sql, orgId, userId);
    const scopes =
      approver === null ? [] : [...permissionsOfKey(granted, new Set<Permission>(ROLE_PERMISSIONS[approver.role]))];
    if (orgId === null || userId === null || approver === null || scopes.length === 0) {
      await setState(sql, row.id, 'denied');
      return new DeviceRefusal('access_denied', 'Who approved may not do this any more.');
    }
    await setState(sql, row.id, 'delivered');
    const caller = { orgId, actor: { kind: 'user' as const, id: userId, label: approver.name } };
    const expiresAt = new Date(now.getTime() + (days ?? DEFAULT_API_KEY_DAYS) * DAY_MS);
    const key = await this.keys.insert(
      sql,
      caller,
      { name: row.client, ownerKind: 'user', ownerId: userId, scopes, notBefore: null, expiresAt },
      { device: row.id },
    );
    return {
      access_token: key.token,
      token_type: 'Bearer',
      expires_in: Math.floor((expiresAt.getTime() - now.getTime()) / 1_000),
      scope: scopes.join(' '),
      org_id: orgId,
    };
  }

  private async waiting(sql: PoolClient, userCode: string): Promise<DeviceRow> {
    const code = normalUserCode(userCode);
    const row =
      code === null ? null : await lockWaiting(sql, hashUserCode(code, this.config.ENCRYPTION_KEY), this.clock.now());
    if (row === null) throw notFound();
    return row;
  }

  private asSystem<T>(reason: string, work: (sql: PoolClient) => Promise<T>): Promise<T> {
    return asSystem(this.pool, 'slipway_app_system', reason, work);
  }
}
