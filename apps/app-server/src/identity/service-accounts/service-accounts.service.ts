import { Inject, Injectable } from '@nestjs/common';
import { ApiKeys } from '@slipway/auth';
import { type PageQuery } from '@slipway/contracts/conversations';
import {
  type ChangeServiceAccount,
  type CreateServiceAccount,
  MAX_SERVICE_ACCOUNTS,
  type ServiceAccount,
} from '@slipway/contracts/identity';
import { type Permission, type Principal, ROLE_PERMISSIONS, type Role } from '@slipway/contracts/organizations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import type { z } from 'zod';
import { auditOf } from '../../audit/audit-statement.js';
import { revokeInvitationsAbove } from '../../organizations/invitations/inviter-rights.queries.js';
import { CLOCK, IDS, SQL_POOL } from '../../platform/tokens.js';
import { revokeApiKeysOf } from '../api-keys/api-keys.queries.js';
import {
  countServiceAccounts,
  deleteServiceAccount,
  insertServiceAccount,
  listServiceAccounts,
  lockServiceAccount,
  readServiceAccount,
  toServiceAccount,
  updateServiceAccount,
} from './service-accounts.queries.js';

const ACCOUNT_ID = /^svc_[0-9a-z]{26}$/;

/**
 * Accounts of programs that belong to no user. No caller can give one more than they have themselves, nor more than
 * their key has.
 */
@Injectable()
export class ServiceAccountsService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
    private readonly known: ApiKeys,
  ) {}

  async list(
    caller: Principal,
    query: z.output<typeof PageQuery>,
  ): Promise<{ data: ServiceAccount[]; page: { nextCursor: string | null } }> {
    if (query.cursor !== undefined && !ACCOUNT_ID.test(query.cursor)) {
      throw new SlipwayError('request.invalid', 'The cursor is none of this list.', {
        fields: [{ path: 'cursor', message: 'is none of this list' }],
      });
    }
    const rows = await inOrg(this.pool, caller.orgId, (client) =>
      listServiceAccounts(client, caller.orgId, query.cursor ?? null, query.limit),
    );
    const page = rows.slice(0, query.limit);
    return {
      data: page.map(toServiceAccount),
      page: { nextCursor: rows.length > page.length ? (page.at(-1)?.id ?? null) : null },
    };
  }

  /** @throws SlipwayError `resource.not-found` */
  async get(caller: Principal, id: string): Promise<ServiceAccount> {
    const row = await inOrg(this.pool, caller.orgId, (client) => readServiceAccount(client, caller.orgId, id));
    if (row === null) throw notFound();
    return toServiceAccount(row);
  }

  /**
   * @param reservedId of the request's Idempotency-Key: asked again after a crash, it finds what the first one made.
   */
  async create(
    caller: Principal,
    { name, role }: CreateServiceAccount,
    reservedId: string | undefined,
  ): Promise<ServiceAccount> {
    assertAtMost(role, caller);
    return inOrg(this.pool, caller.orgId, async (client) => {
      const id =
        reservedId === undefined ? this.ids.prefixed('svc') : `svc_${reservedId.replaceAll('-', '').slice(0, 26)}`;
      const made = await readServiceAccount(client, caller.orgId, id);
      if (made !== null) return toServiceAccount(made);
      if ((await countServiceAccounts(client, caller.orgId)) >= MAX_SERVICE_ACCOUNTS) {
        throw new SlipwayError('service-account.limit', `There are ${MAX_SERVICE_ACCOUNTS} service accounts already.`);
      }
      await insertServiceAccount(client, caller.orgId, {
        id,
        name,
        role,
        createdBy: caller.actor.id,
        createdByLabel: caller.actor.label,
      });
      await client.query(
        auditOf(this.ids.uuid(), caller, { action: 'service-account.create', target: id, after: { name, role } }),
      );
      const row = await readServiceAccount(client, caller.orgId, id);
      if (row === null) throw notFound();
      return toServiceAccount(row);
    });
  }

  /** @throws SlipwayError `resource.not-found`, `service-account.role-too-high` */
  async change(caller: Principal, id: string, wanted: ChangeServiceAccount): Promise<ServiceAccount> {
    return inOrg(this.pool, caller.orgId, async (client) => {
      const row = await lockServiceAccount(client, caller.orgId, id);
      if (row === null) throw notFound();
      const { name = row.name, role = row.role } = wanted;
      if (role !== row.role) assertAtMost(role, caller);
      if (name !== row.name || role !== row.role) {
        await updateServiceAccount(client, caller.orgId, id, { name, role });
        if (role !== row.role) await revokeInvitationsAbove(client, caller.orgId, id, role);
        const before = {
          ...(name === row.name ? {} : { name: row.name }),
          ...(role === row.role ? {} : { role: row.role }),
        };
        const after = { ...(name === row.name ? {} : { name }), ...(role === row.role ? {} : { role }) };
        await client.query(
          auditOf(this.ids.uuid(), caller, { action: 'service-account.change', target: id, before, after }),
        );
      }
      return toServiceAccount({ ...row, name, role });
    });
  }

  /** Its keys end with it. @throws SlipwayError `resource.not-found` */
  async remove(caller: Principal, id: string): Promise<void> {
    const now = this.clock.now();
    const keys = await inOrg(this.pool, caller.orgId, async (client) => {
      const row = await lockServiceAccount(client, caller.orgId, id);
      if (row === null) throw notFound();
      await deleteServiceAccount(client, caller.orgId, id, now);
      const revoked = await revokeApiKeysOf(client, caller.orgId, id, now);
      await revokeInvitationsAbove(client, caller.orgId, id, null);
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'service-account.delete',
          target: id,
          detail: { name: row.name, role: row.role, revokedKeys: revoked },
        }),
      );
      return revoked;
    });
    for (const key of keys) this.known.forget(key);
  }
}

/** @throws SlipwayError `service-account.role-too-high` when the role has a permission that the caller has not. */
function assertAtMost(role: Role, caller: Principal): void {
  const missing = (ROLE_PERMISSIONS[role] as readonly Permission[]).filter(
    (permission) => !caller.permissions.has(permission),
  );
  if (missing.length > 0)
    throw new SlipwayError(
      'service-account.role-too-high',
      `The role ${role} has permissions that you do not have: ${missing.join(', ')}.`,
    );
}
