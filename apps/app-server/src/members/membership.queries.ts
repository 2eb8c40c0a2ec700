import type { MEMBER_SOURCES, MemberRemoval, Role } from '@slipway/contracts';
import type { PoolClient } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import { revokeInvitationsAbove } from '../invitations/inviter-rights.queries.js';
import { knownCredentials } from './known-credentials.queries.js';

export interface OrgRow {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly kind: 'personal' | 'company';
  readonly deletes_at: Date | null;
}

/** The organization's row, locked to the end of the transaction: whoever changes who belongs to it, and as what, takes turns here. */
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
  return new SlipwayError('org.being-deleted', `It will be deleted at ${deletesAt}; an owner can take that back until then.`, { extensions: { deletesAt } });
}

export async function roleOf(client: PoolClient, orgId: string, userId: string): Promise<Role | null> {
  const { rows } = await client.query<{ role: Role }>({
    name: 'role-of',
    text: 'SELECT role FROM app.membership WHERE org_id = $1 AND user_id = $2',
    values: [orgId, userId],
  });
  return rows[0]?.role ?? null;
}

/** Whether another user than `userId` owns it, who can sign in. */
export async function hasOtherOwner(client: PoolClient, orgId: string, userId: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT 1 FROM app.membership m JOIN app.user_account u ON u.id = m.user_id
     WHERE m.org_id = $1 AND m.role = 'owner' AND m.user_id <> $2 AND u.deactivated_at IS NULL LIMIT 1`,
    [orgId, userId],
  );
  return rowCount === 1;
}

export async function setRole(client: PoolClient, orgId: string, userId: string, role: Role): Promise<void> {
  await client.query('UPDATE app.membership SET role = $3 WHERE org_id = $1 AND user_id = $2', [orgId, userId, role]);
}

/** @returns false when they are a member already; then nothing is changed, whatever role they have. */
export async function addMember(
  client: PoolClient,
  orgId: string,
  member: { userId: string; role: Role; source: (typeof MEMBER_SOURCES)[number] },
): Promise<boolean> {
  const { rowCount } = await client.query(
    'INSERT INTO app.membership (org_id, user_id, role, source) VALUES ($1, $2, $3, $4) ON CONFLICT (org_id, user_id) DO NOTHING',
    [orgId, member.userId, member.role, member.source],
  );
  return rowCount === 1;
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
 * Takes a member out, with their keys of this organization, what was made with those, their open invitations and their ways into its sandboxes. What they have running is ended by the job
 * `member-removed`, which is to be wanted in the same transaction.
 */
export async function endMembership(client: PoolClient, orgId: string, userId: string): Promise<void> {
  await client.query('DELETE FROM app.membership WHERE org_id = $1 AND user_id = $2', [orgId, userId]);
  await client.query('INSERT INTO app.former_member (org_id, user_id) VALUES ($1, $2) ON CONFLICT (org_id, user_id) DO UPDATE SET left_at = now()', [
    orgId,
    userId,
  ]);
  await client.query(`UPDATE app.api_key SET revoked_at = now() WHERE org_id = $1 AND owner_kind = 'user' AND owner_id = $2 AND revoked_at IS NULL`, [
    orgId,
    userId,
  ]);
  await revokeInvitationsAbove(client, orgId, userId, null);
  await client.query('UPDATE app.sandbox_grant SET revoked_at = now() WHERE org_id = $1 AND user_id = $2 AND revoked_at IS NULL AND expires_at > now()', [
    orgId,
    userId,
  ]);
}

/** Forgets that they have left. @returns whether they had. */
export async function welcomeBack(client: PoolClient, orgId: string, userId: string): Promise<boolean> {
  const { rowCount } = await client.query('DELETE FROM app.former_member WHERE org_id = $1 AND user_id = $2', [orgId, userId]);
  return rowCount === 1;
}

export async function hasLeft(client: PoolClient, orgId: string, userId: string): Promise<boolean> {
  const { rowCount } = await client.query('SELECT 1 FROM app.former_member WHERE org_id = $1 AND user_id = $2', [orgId, userId]);
  return rowCount === 1;
}
