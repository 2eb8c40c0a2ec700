import type { MEMBER_SOURCES, MemberRemoval, Role } from '@slipway/contracts/organizations';
import { type Columns, type PoolClient, transactionTime } from '@slipway/db/sql';
import { userStore } from '@slipway/db/store';
import { SlipwayError } from '@slipway/errors';
import { revokeInvitationsAbove } from '../invitations/inviter-rights.queries.js';
import { knownCredentials } from './known-credentials.queries.js';

export type OrgRow = Columns<
  'app.org',
  'id' | 'slug' | 'name' | 'kind' | 'deletes_at',
  { kind: 'personal' | 'company' }
>;

/**
 * The organization's row, locked to the end of the transaction: whoever changes who belongs to it, and as what, takes
 * turns here.
 */
export async function lockOrg(client: PoolClient, orgId: string): Promise<OrgRow | null> {
  const { rows } = await client.query<OrgRow>({
    name: 'lock-org',
    text: 'SELECT id, slug, name, kind, deletes_at FROM app.org WHERE id = $1 FOR UPDATE',
    values: [orgId],
  });
  return rows[0] ?? null;
}

/**
 * No work starts and no member joins or leaves while it waits for its deletion. @throws SlipwayError
 * `org.being-deleted`
 */
export function assertKept({ deletes_at }: Pick<OrgRow, 'deletes_at'>): void {
  if (deletes_at !== null) throw beingDeleted(deletes_at.toISOString());
}

/** @param deletesAt RFC 3339. */
export function beingDeleted(deletesAt: string): SlipwayError {
  return new SlipwayError(
    'org.being-deleted',
    `It will be deleted at ${deletesAt}; an owner can take that back until then.`,
    { extensions: { deletesAt } },
  );
}

export async function roleOf(client: PoolClient, orgId: string, userId: string): Promise<Role | null> {
  const member = await userStore(client, (store) =>
    store.membership.findFirst({ select: { role: true }, where: { orgId, userId } }),
  );
  return (member?.role ?? null) as Role | null;
}

/** Whether another user than `userId` owns it, who can sign in. */
export async function hasOtherOwner(client: PoolClient, orgId: string, userId: string): Promise<boolean> {
  const other = await userStore(client, (store) =>
    store.membership.findFirst({
      select: { userId: true },
      where: { orgId, role: 'owner', userId: { not: userId }, user: { deactivatedAt: null } },
    }),
  );
  return other !== null;
}

export async function setRole(client: PoolClient, orgId: string, userId: string, role: Role): Promise<void> {
  await userStore(client, (store) => store.membership.updateMany({ where: { orgId, userId }, data: { role } }));
}

/** @returns false when they are a member already; then nothing is changed, whatever role they have. */
export async function addMember(
  client: PoolClient,
  orgId: string,
  member: { userId: string; role: Role; source: (typeof MEMBER_SOURCES)[number] },
): Promise<boolean> {
  const { count } = await userStore(client, (store) =>
    store.membership.createMany({ data: { orgId, ...member }, skipDuplicates: true }),
  );
  return count === 1;
}

/** What would go with a member, and what they would still know. */
export async function countRemoval(client: PoolClient, orgId: string, userId: string): Promise<MemberRemoval> {
  const { rows } = await client.query<Omit<MemberRemoval, 'knownCredentials' | 'knownCredentialsTotal'>>(
    `SELECT (SELECT count(*)::int FROM app.api_key WHERE org_id = $1 AND owner_kind = 'user' AND owner_id = $2 AND revoked_at IS NULL AND expires_at > now()) AS "keysRevoked",
       count(*) FILTER (WHERE desired = 'run' AND sandbox_status IN ('STARTING', 'RUNNING'))::int AS "sandboxesStopping", count(*)::int AS "conversationsKept",
       (SELECT count(*)::int FROM app.invitation i
        WHERE i.org_id = $1 AND i.invited_by = $2 AND i.accepted_at IS NULL AND i.revoked_at IS NULL AND i.expires_at > now()) AS "invitationsRevoked"
     FROM app.conversation WHERE org_id = $1 AND created_by = $2`,
    [orgId, userId],
  );
  const { known, total } = await knownCredentials(client, orgId, userId);
  return { ...(rows[0] as MemberRemoval), knownCredentials: known, knownCredentialsTotal: total };
}

/**
 * Takes a member out, with their keys of this organization, what was made with those, their open invitations and their
 * ways into its sandboxes. What they have running is ended by the job `member-removed`, which is to be wanted in the
 * same transaction.
 */
export async function endMembership(client: PoolClient, orgId: string, userId: string): Promise<void> {
  const leftAt = await transactionTime(client);
  await userStore(client, (store) => store.membership.deleteMany({ where: { orgId, userId } }));
  await userStore(client, (store) =>
    store.formerMember.upsert({
      where: { orgId_userId: { orgId, userId } },
      create: { orgId, userId, leftAt },
      update: { leftAt },
    }),
  );
  await client.query(
    `UPDATE app.api_key SET revoked_at = now() WHERE org_id = $1 AND owner_kind = 'user' AND owner_id = $2 AND revoked_at IS NULL`,
    [orgId, userId],
  );
  await revokeInvitationsAbove(client, orgId, userId, null);
  await client.query('DELETE FROM app.prompt WHERE org_id = $1 AND user_id = $2', [orgId, userId]);
  await client.query('DELETE FROM app.attachment WHERE org_id = $1 AND created_by = $2 AND conversation_id IS NULL', [
    orgId,
    userId,
  ]);
  await client.query('DELETE FROM app.message_draft WHERE org_id = $1 AND user_id = $2', [orgId, userId]);
  await client.query(
    'UPDATE app.sandbox_grant SET revoked_at = now() WHERE org_id = $1 AND user_id = $2 AND revoked_at IS NULL AND expires_at > now()',
    [orgId, userId],
  );
}

/** Forgets that they have left. @returns whether they had. */
export async function welcomeBack(client: PoolClient, orgId: string, userId: string): Promise<boolean> {
  const { count } = await userStore(client, (store) => store.formerMember.deleteMany({ where: { orgId, userId } }));
  return count === 1;
}

export async function hasLeft(client: PoolClient, orgId: string, userId: string): Promise<boolean> {
  return (
    (await userStore(client, (store) =>
      store.formerMember.findFirst({ select: { leftAt: true }, where: { orgId, userId } }),
    )) !== null
  );
}
