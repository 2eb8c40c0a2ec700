import { ROLE_PERMISSIONS, ROLES, type Role } from '@slipway/contracts/organizations';
import { type Columns, type PoolClient, transactionTime } from '@slipway/db/sql';
import { userStore } from '@slipway/db/store';
import { withdrawMail } from '../mail/mail.queries.js';

/** The role that an inviter has at this moment: a member who may sign in, or a service account. `null`: neither. */
export async function roleOfInviter(client: PoolClient, orgId: string, inviterId: string): Promise<Role | null> {
  const { rows } = await client.query<{ role: Role }>(
    `SELECT m.role FROM app.membership m JOIN app.user_account u ON u.id = m.user_id
     WHERE m.org_id = $1 AND m.user_id = $2 AND u.deactivated_at IS NULL
     UNION ALL SELECT a.role FROM app.service_account a WHERE a.org_id = $1 AND a.id = $2 AND a.deleted_at IS NULL`,
    [orgId, inviterId],
  );
  return rows[0]?.role ?? null;
}

/**
 * Whether an invitation to `invited` outlives its maker's present role: one to a role above it does not, and none
 * outlives the membership.
 */
export function holdsUnder(inviter: Role | null, invited: Role): boolean {
  if (inviter === null) return false;
  const held: readonly string[] = ROLE_PERMISSIONS[inviter];
  return ROLE_PERMISSIONS[invited].every((permission) => held.includes(permission));
}

/**
 * Revokes the open invitations of an inviter that their new role does not cover, and stops the mails. @param role
 * `null`: they are no member any more. @returns the ids.
 */
export async function revokeInvitationsAbove(
  client: PoolClient,
  orgId: string,
  inviterId: string,
  role: Role | null,
): Promise<string[]> {
  const above = ROLES.filter((invited) => !holdsUnder(role, invited));
  const now = await transactionTime(client);
  const revoked = await userStore(client, (store) =>
    store.invitation.updateManyAndReturn({
      where: {
        orgId,
        invitedBy: inviterId,
        role: { in: above },
        acceptedAt: null,
        revokedAt: null,
        expiresAt: { gt: now },
      },
      data: { revokedAt: now },
      select: { id: true, mailId: true },
    }),
  );
  for (const { mailId } of revoked) if (mailId !== null) await withdrawMail(client, orgId, mailId);
  return revoked.map(({ id }) => id);
}

/** Keys with which an invitation was made or resent, as the audit has them. */
const HANDED_BY = `SELECT a.via_key FROM app.audit_entry a
  WHERE a.org_id = $1 AND a.target = i.id::text AND a.action IN ('invitation.create', 'invitation.resend') AND a.via_key IS NOT NULL`;

/**
 * Whether the invitation was made, or its link handed out again, with an API key that was revoked since. A key that was
 * rotated stands for its newest successor.
 */
export async function isOfRevokedKey(client: PoolClient, orgId: string, invitationId: string): Promise<boolean> {
  const { rows } = await client.query<{ revoked: boolean }>(
    `WITH RECURSIVE held AS (
       SELECT k.id, k.revoked_at, k.replaced_by FROM app.api_key k, app.invitation i WHERE i.org_id = $1 AND i.id = $2 AND k.org_id = $1 AND k.id IN (${HANDED_BY})
       UNION SELECT k.id, k.revoked_at, k.replaced_by FROM app.api_key k JOIN held h ON k.id = h.replaced_by WHERE k.org_id = $1)
     SELECT EXISTS (SELECT 1 FROM held WHERE revoked_at IS NOT NULL AND replaced_by IS NULL) AS revoked`,
    [orgId, invitationId],
  );
  return rows[0]?.revoked ?? false;
}

/** Revokes the open invitations that were made or resent with these keys, and stops the mails. */
export async function revokeInvitationsOfKeys(
  client: PoolClient,
  orgId: string,
  keys: readonly string[],
): Promise<void> {
  const { rows } = await client.query<Columns<'app.invitation', 'id' | 'mail_id'>>(
    `UPDATE app.invitation i SET revoked_at = now()
     WHERE i.org_id = $1 AND i.accepted_at IS NULL AND i.revoked_at IS NULL AND i.expires_at > now()
       AND EXISTS (SELECT 1 FROM (${HANDED_BY}) h WHERE h.via_key = ANY ($2)) RETURNING i.id, i.mail_id`,
    [orgId, keys],
  );
  for (const { mail_id } of rows) if (mail_id !== null) await withdrawMail(client, orgId, mail_id);
}
