import type { INVITATION_STATES, Invitation, Role } from '@slipway/contracts';
import type { PoolClient, SqlPool } from '@slipway/db/sql';

interface InvitationRow {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  readonly state: Invitation['state'];
  readonly invited_by: string;
  readonly invited_by_label: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly mail_state: Invitation['mail']['state'];
  readonly sent_at: Date | null;
  readonly last_error: string | null;
}

const STATE = `CASE WHEN i.accepted_at IS NOT NULL THEN 'accepted' WHEN i.revoked_at IS NOT NULL THEN 'revoked' WHEN i.expires_at <= now() THEN 'expired' ELSE 'open' END`;
const COLUMNS = `i.id, i.email, i.role, ${STATE} AS state, i.invited_by, i.invited_by_label, i.created_at, i.expires_at, m.sent_at, m.last_error,
  CASE WHEN m.id IS NULL THEN 'link' WHEN m.sent_at IS NOT NULL THEN 'sent' WHEN m.failed_at IS NOT NULL THEN 'failed' ELSE 'waiting' END AS mail_state`;
const FROM = 'FROM app.invitation i LEFT JOIN app.outgoing_mail m ON m.org_id = i.org_id AND m.id = i.mail_id';

function toInvitation(row: InvitationRow): Invitation {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    state: row.state,
    invitedBy: { id: row.invited_by, label: row.invited_by_label },
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    mail: { state: row.mail_state, sentAt: row.sent_at?.toISOString() ?? null, error: row.last_error },
  };
}

/** Newest first; `limit` rows after `after`. */
export async function listInvitations(
  client: PoolClient,
  orgId: string,
  filter: { state: (typeof INVITATION_STATES)[number] | undefined; after: { createdAt: string; id: string } | null; limit: number },
): Promise<Invitation[]> {
  const { rows } = await client.query<InvitationRow>(
    `SELECT ${COLUMNS} ${FROM}
     WHERE i.org_id = $1 AND ($2::text IS NULL OR ${STATE} = $2) AND ($3::timestamptz IS NULL OR (i.created_at, i.id) < ($3, $4::uuid))
     ORDER BY i.created_at DESC, i.id DESC LIMIT $5`,
    [orgId, filter.state ?? null, filter.after?.createdAt ?? null, filter.after?.id ?? null, filter.limit],
  );
  return rows.map(toInvitation);
}

export async function readInvitations(client: PoolClient, orgId: string, ids: readonly string[]): Promise<Map<string, Invitation>> {
  const { rows } = await client.query<InvitationRow>(`SELECT ${COLUMNS} ${FROM} WHERE i.org_id = $1 AND i.id = ANY ($2::uuid[])`, [orgId, ids]);
  return new Map(rows.map((row) => [row.id, toInvitation(row)]));
}

export async function countOpen(client: PoolClient, orgId: string): Promise<number> {
  const { rows } = await client.query<{ open: number }>(
    'SELECT count(*)::int AS open FROM app.invitation WHERE org_id = $1 AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > now()',
    [orgId],
  );
  return rows[0]?.open ?? 0;
}

/** Those of the addresses that a member has. */
export async function memberEmails(client: PoolClient, orgId: string, emails: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ email: string }>(
    `SELECT lower(u.email) AS email FROM app.user_account u JOIN app.membership m ON m.user_id = u.id AND m.org_id = $1 WHERE lower(u.email) = ANY ($2)`,
    [orgId, emails],
  );
  return new Set(rows.map(({ email }) => email));
}

/** Those of the addresses that have an open invitation. */
export async function openEmails(client: PoolClient, orgId: string, emails: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ email: string }>(
    'SELECT email FROM app.invitation WHERE org_id = $1 AND email = ANY ($2) AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > now()',
    [orgId, emails],
  );
  return new Set(rows.map(({ email }) => email));
}

export interface NewInvitation {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  readonly message: string | null;
  readonly tokenHash: Buffer;
  readonly invitedBy: { readonly id: string; readonly label: string };
  readonly days: number;
}

/** Makes it, or renews an expired one of the same address. @returns its id; `null` when one is open. */
export async function insertInvitation(client: PoolClient, orgId: string, made: NewInvitation): Promise<string | null> {
  const { rows } = await client.query<{ id: string }>(
    `INSERT INTO app.invitation AS i (id, org_id, email, role, message, token_hash, invited_by, invited_by_label, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now() + $9 * interval '1 day')
     ON CONFLICT (org_id, email) WHERE accepted_at IS NULL AND revoked_at IS NULL
     DO UPDATE SET role = excluded.role, message = excluded.message, token_hash = excluded.token_hash, invited_by = excluded.invited_by,
       invited_by_label = excluded.invited_by_label, created_at = now(), expires_at = excluded.expires_at, mail_id = NULL
     WHERE i.expires_at <= now() RETURNING i.id`,
    [made.id, orgId, made.email, made.role, made.message, made.tokenHash, made.invitedBy.id, made.invitedBy.label, made.days],
  );
  return rows[0]?.id ?? null;
}

export async function setMail(client: PoolClient, orgId: string, id: string, mailId: string): Promise<void> {
  await client.query('UPDATE app.invitation SET mail_id = $3 WHERE org_id = $1 AND id = $2', [orgId, id, mailId]);
}

export interface LockedInvitation {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  readonly message: string | null;
  readonly state: Invitation['state'];
  readonly accepted_by: string | null;
  readonly mail_id: string | null;
  readonly invited_by: string;
}

export async function lockInvitation(client: PoolClient, orgId: string, id: string): Promise<LockedInvitation | null> {
  const { rows } = await client.query<LockedInvitation>(
    `SELECT i.id, i.email, i.role, i.message, ${STATE} AS state, i.accepted_by, i.mail_id, i.invited_by FROM app.invitation i WHERE i.org_id = $1 AND i.id = $2 FOR UPDATE`,
    [orgId, id],
  );
  return rows[0] ?? null;
}

/** Another token in place of the one before, for `days` from now. */
export async function renewInvitation(client: PoolClient, orgId: string, id: string, tokenHash: Buffer, days: number): Promise<void> {
  await client.query(`UPDATE app.invitation SET token_hash = $3, expires_at = now() + $4 * interval '1 day', mail_id = NULL WHERE org_id = $1 AND id = $2`, [
    orgId,
    id,
    tokenHash,
    days,
  ]);
}

export async function revokeInvitation(client: PoolClient, orgId: string, id: string): Promise<void> {
  await client.query('UPDATE app.invitation SET revoked_at = now() WHERE org_id = $1 AND id = $2', [orgId, id]);
}

export async function markAccepted(client: PoolClient, orgId: string, id: string, userId: string): Promise<void> {
  await client.query('UPDATE app.invitation SET accepted_at = now(), accepted_by = $3 WHERE org_id = $1 AND id = $2', [orgId, id, userId]);
}

/** What a token belongs to, whichever organization that is. */
export interface FoundInvitation {
  readonly id: string;
  readonly org_id: string;
  readonly org_name: string;
  readonly deletes_at: Date | null;
  readonly email: string;
  readonly role: Role;
  readonly invited_by_label: string;
  readonly expires_at: Date;
  readonly revoked_at: Date | null;
  readonly accepted_at: Date | null;
  readonly accepted_by: string | null;
}

export async function findInvitation(pool: Pick<SqlPool, 'query'>, hash: Buffer): Promise<(FoundInvitation & { readonly state: Invitation['state'] }) | null> {
  const { rows } = await pool.query<FoundInvitation & { expired: boolean }>('SELECT *, expires_at <= now() AS expired FROM app.find_invitation($1)', [hash]);
  const row = rows[0];
  if (row === undefined) return null;
  return { ...row, state: row.accepted_at !== null ? 'accepted' : row.revoked_at !== null ? 'revoked' : row.expired ? 'expired' : 'open' };
}
