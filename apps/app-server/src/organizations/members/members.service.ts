import { Inject, Injectable } from '@nestjs/common';
import type {
  ListMembersQuery,
  Member,
  MemberPage,
  MemberRemoval,
  Principal,
  RemoveMemberQuery,
  UpdateMember,
} from '@slipway/contracts/organizations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { auditOf } from '../../audit/audit-statement.js';
import { Jobs } from '../../platform/jobs.js';
import { wantJobAs } from '../../platform/outbox.queries.js';
import { IDS, SQL_POOL } from '../../platform/tokens.js';
import { revokeInvitationsAbove } from '../invitations/inviter-rights.queries.js';
import { assertMayGrant, presentPermissions } from './granting.js';
import { revokeKnownKeys } from './known-credentials.queries.js';
import { readMemberCursor, wordsOf, writeMemberCursor } from './member-cursor.js';
import { countMembers, findMember, listMembers, withSpending } from './members.queries.js';
import {
  assertKept,
  countRemoval,
  endMembership,
  hasOtherOwner,
  lockOrg,
  type OrgRow,
  roleOf,
  setRole,
} from './membership.queries.js';

/**
 * Who belongs to an organization, and as what. Every change holds the organization's row, so that none is decided on
 * what another has just changed.
 */
@Injectable()
export class MembersService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    private readonly jobs: Jobs,
  ) {}

  async list(caller: Principal, query: ListMembersQuery): Promise<MemberPage> {
    const after = query.cursor === undefined ? null : readMemberCursor(query.cursor);
    const rows = await listMembers(this.pool, caller.orgId, {
      role: query.role,
      words: wordsOf(query.search),
      after,
      limit: query.limit + 1,
      spending: seesSpending(caller),
    });
    const data = rows.slice(0, query.limit);
    const last = data.at(-1);
    return {
      data,
      page: { nextCursor: rows.length > query.limit && last !== undefined ? writeMemberCursor(last) : null },
    };
  }

  /** Of those that a search finds, or of all. */
  count(caller: Principal, search: string | undefined): Promise<number> {
    return countMembers(this.pool, caller.orgId, wordsOf(search));
  }

  /** @throws SlipwayError `resource.not-found` */
  get(caller: Principal, userId: string): Promise<Member> {
    return inOrg(this.pool, caller.orgId, (client) => this.member(client, caller, userId));
  }

  /**
   * @throws SlipwayError `member.changed`, `org.last-owner`, `org.being-deleted`, `permission.denied`,
   * `resource.not-found`
   */
  setRole(caller: Principal, userId: string, { role, expectedRole }: UpdateMember): Promise<Member> {
    return inOrg(this.pool, caller.orgId, async (client) => {
      const { before } = await this.changing(client, caller, userId, 'member:set-role');
      if (expectedRole !== undefined && expectedRole !== before)
        throw new SlipwayError('member.changed', `The role is ${before} by now, not ${expectedRole}.`, {
          extensions: { role: before },
        });
      if (role !== before) {
        assertMayGrant(await presentPermissions(client, caller), role, 'member:set-role');
        if (before === 'owner') await this.assertOtherOwner(client, caller.orgId, userId);
        await setRole(client, caller.orgId, userId, role);
        const revoked = await revokeInvitationsAbove(client, caller.orgId, userId, role);
        const detail = revoked.length === 0 ? {} : { detail: { invitationsRevoked: revoked } };
        await client.query(
          auditOf(this.ids.uuid(), caller, {
            action: 'member.set-role',
            target: userId,
            before: { role: before },
            after: { role },
            ...detail,
          }),
        );
      }
      return this.member(client, caller, userId);
    });
  }

  preview(caller: Principal, userId: string): Promise<MemberRemoval> {
    return inOrg(this.pool, caller.orgId, async (client) => {
      if ((await roleOf(client, caller.orgId, userId)) === null) throw notFound();
      return countRemoval(client, caller.orgId, userId);
    });
  }

  /** @throws SlipwayError `org.personal`, `org.last-owner`, `permission.denied`, `resource.not-found` */
  async remove(caller: Principal, userId: string, { revokeKnownKeys }: RemoveMemberQuery): Promise<MemberRemoval> {
    const removal = await inOrg(this.pool, caller.orgId, async (client) => {
      const { org, before } = await this.changing(client, caller, userId, 'member:remove');
      return this.end(client, caller, {
        org,
        userId,
        role: before,
        action: 'member.remove',
        knownKeys: revokeKnownKeys === 'true' ? 'revoke' : 'keep',
      });
    });
    this.enqueueEnd(caller.orgId, userId);
    return removal;
  }

  /** The caller takes themself out. @throws SlipwayError `org.personal`, `org.last-owner` */
  async leave(caller: Principal): Promise<MemberRemoval> {
    const userId = caller.actor.id;
    const removal = await inOrg(this.pool, caller.orgId, async (client) => {
      const org = await lockOrg(client, caller.orgId);
      const role = org === null ? null : await roleOf(client, caller.orgId, userId);
      if (org === null || role === null) throw notFound();
      return this.end(client, caller, { org, userId, role, action: 'member.leave', knownKeys: 'keep' });
    });
    this.enqueueEnd(caller.orgId, userId);
    return removal;
  }

  /** Locks the organization, and makes sure that the caller may still manage members of this role. */
  private async changing(
    client: PoolClient,
    caller: Principal,
    userId: string,
    needed: 'member:set-role' | 'member:remove',
  ): Promise<{ org: OrgRow; before: Member['role'] }> {
    const org = await lockOrg(client, caller.orgId);
    const before = org === null ? null : await roleOf(client, caller.orgId, userId);
    if (org === null || before === null) throw notFound();
    assertKept(org);
    assertMayGrant(await presentPermissions(client, caller), before, needed);
    return { org, before };
  }

  private async end(
    client: PoolClient,
    caller: Principal,
    { org, userId, role, action, knownKeys }: Ending,
  ): Promise<MemberRemoval> {
    if (org.kind === 'personal')
      throw new SlipwayError('org.personal', 'A personal organization and its user belong together.');
    if (role === 'owner') await this.assertOtherOwner(client, org.id, userId);
    const removal = await countRemoval(client, org.id, userId);
    const revokedKeys = knownKeys === 'revoke' ? await revokeKnownKeys(client, org.id, userId) : [];
    await endMembership(client, org.id, userId);
    await wantJobAs(client, 'member-removed', endKey(org.id, userId), { orgId: org.id, userId });
    await client.query(
      auditOf(this.ids.uuid(), caller, {
        action,
        target: userId,
        before: { role },
        detail: auditedRemoval(removal, revokedKeys),
      }),
    );
    return removal;
  }

  private enqueueEnd(orgId: string, userId: string): void {
    this.jobs.enqueueAs('member-removed', endKey(orgId, userId), { orgId, userId });
  }

  private async assertOtherOwner(client: PoolClient, orgId: string, userId: string): Promise<void> {
    if (!(await hasOtherOwner(client, orgId, userId)))
      throw new SlipwayError('org.last-owner', 'There is no other owner who could sign in.');
  }

  private async member(client: PoolClient, caller: Principal, userId: string): Promise<Member> {
    const member = await findMember(client, caller.orgId, userId);
    if (member === null) throw notFound();
    return seesSpending(caller) ? ((await withSpending(client, caller.orgId, [member]))[0] ?? member) : member;
  }
}

/** The end of a membership, by whom and with what. */
interface Ending {
  readonly org: OrgRow;
  readonly userId: string;
  readonly role: Member['role'];
  readonly action: 'member.remove' | 'member.leave';
  readonly knownKeys: 'revoke' | 'keep';
}

/** Of what they know the audit has kinds and ids: names may change, and 100 of them make no entry easier to read. */
function auditedRemoval(
  { knownCredentials, ...removal }: MemberRemoval,
  revokedKeys: readonly string[],
): Record<string, unknown> {
  return {
    ...removal,
    knownCredentials: knownCredentials.map(({ kind, id }) => ({ kind, id })),
    ...(revokedKeys.length === 0 ? {} : { revokedKeys }),
  };
}

const seesSpending = ({ permissions }: Principal): boolean => permissions.has('usage:read');

/** One removal of one user at a time. */
const endKey = (orgId: string, userId: string): string => `${orgId}.${userId}`;
