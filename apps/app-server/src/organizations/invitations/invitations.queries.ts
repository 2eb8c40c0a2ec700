import type { INVITATION_STATES, Invitation, Role } from '@slipway/contracts/organizations';
import { type Columns, type PoolClient, type SqlPool, transactionTime } from '@slipway/db/sql';
import { type Prisma, userStore } from '@slipway/db/store';

type State = (typeof INVITATION_STATES)[number];

const COLUMNS = {
  id: true,
  email: true,
  role: true,
  invitedBy: true,
  invitedByLabel: true,
  createdAt: true,
  expiresAt: true,
  revokedAt: true,
  acceptedAt: true,
  mail: { select: { sentAt: true, failedAt: true, lastError: true } },
} satisfies Prisma.InvitationSelect;
type InvitationRow = Prisma.InvitationGetPayload<{ select: typeof COLUMNS }>;

/** An invitation is in the first of these states that applies. */
function stateOf(
  row: { readonly acceptedAt: Date | null; readonly revokedAt: Date | null; readonly expiresAt: Date },
  now: Date,
): State {
  if (row.acceptedAt !== null) return 'accepted';
  if (row.revokedAt !== null) return 'revoked';
  return row.expiresAt <= now ? 'expired' : 'open';
}

/** The same as a condition. */
function inState(state: State, now: Date): Prisma.InvitationWhereInput {
  if (state === 'accepted') return { acceptedAt: { not: null } };
  if (state === 'revoked') return { acceptedAt: null, revokedAt: { not: null } };
  return { acceptedAt: null, revokedAt: null, expiresAt: state === 'open' ? { gt: now } : { lte: now } };
}

function toInvitation(row: InvitationRow, now: Date): Invitation {
  const { mail } = row;
  return {
    id: row.id,
    email: row.email,
    role: row.role as Role,
    state: stateOf(row, now),
    invitedBy: { id: row.invitedBy, label: row.invitedByLabel },
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
    mail: {
      state: mail === null ? 'link' : mail.sentAt !== null ? 'sent' : mail.failedAt !== null ? 'failed' : 'waiting',
      sentAt: mail?.sentAt?.toISOString() ?? null,
      error: mail?.lastError ?? null,
    },
  };
}

/** Newest first; `limit` rows after `after`. */
export async function listInvitations(
  client: PoolClient,
  orgId: string,
  { state, after, limit }: { state: State | undefined; after: { createdAt: string; id: string } | null; limit: number },
): Promise<Invitation[]> {
  const now = await transactionTime(client);
  const further: Prisma.InvitationWhereInput =
    after === null
      ? {}
      : { OR: [{ createdAt: { lt: after.createdAt } }, { createdAt: after.createdAt, id: { lt: after.id } }] };
  const rows = await userStore(client, (store) =>
    store.invitation.findMany({
      select: COLUMNS,
      where: { orgId, ...(state === undefined ? {} : inState(state, now)), ...further },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: limit,
    }),
  );
  return rows.map((row) => toInvitation(row, now));
}

export async function readInvitations(
  client: PoolClient,
  orgId: string,
  ids: readonly string[],
): Promise<Map<string, Invitation>> {
  const now = await transactionTime(client);
  const rows = await userStore(client, (store) =>
    store.invitation.findMany({ select: COLUMNS, where: { orgId, id: { in: [...ids] } } }),
  );
  return new Map(rows.map((row) => [row.id, toInvitation(row, now)]));
}

export async function countOpen(client: PoolClient, orgId: string): Promise<number> {
  const now = await transactionTime(client);
  return userStore(client, (store) => store.invitation.count({ where: { orgId, ...inState('open', now) } }));
}

/** Those of the addresses that a member has. */
export async function memberEmails(
  client: PoolClient,
  orgId: string,
  emails: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ email: string }>(
    `SELECT lower(u.email) AS email FROM app.user_account u JOIN app.membership m ON m.user_id = u.id AND m.org_id = $1 WHERE lower(u.email) = ANY ($2)`,
    [orgId, emails],
  );
  return new Set(rows.map(({ email }) => email));
}

/** Those of the addresses that have an open invitation. */
export async function openEmails(
  client: PoolClient,
  orgId: string,
  emails: readonly string[],
): Promise<ReadonlySet<string>> {
  const now = await transactionTime(client);
  const rows = await userStore(client, (store) =>
    store.invitation.findMany({
      select: { email: true },
      where: { orgId, email: { in: [...emails] }, ...inState('open', now) },
    }),
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

/**
 * Makes it, or renews an expired one of the same address: an upsert on a partial index, which Prisma cannot express.
 * @returns its id; `null` when one is open.
 */
export async function insertInvitation(client: PoolClient, orgId: string, made: NewInvitation): Promise<string | null> {
  const { rows } = await client.query<Columns<'app.invitation', 'id'>>(
    `INSERT INTO app.invitation AS i (id, org_id, email, role, message, token_hash, invited_by, invited_by_label, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now() + $9 * interval '1 day')
     ON CONFLICT (org_id, email) WHERE accepted_at IS NULL AND revoked_at IS NULL
     DO UPDATE SET role = excluded.role, message = excluded.message, token_hash = excluded.token_hash, invited_by = excluded.invited_by,
       invited_by_label = excluded.invited_by_label, created_at = now(), expires_at = excluded.expires_at, mail_id = NULL
     WHERE i.expires_at <= now() RETURNING i.id`,
    [
      made.id,
      orgId,
      made.email,
      made.role,
      made.message,
      made.tokenHash,
      made.invitedBy.id,
      made.invitedBy.label,
      made.days,
    ],
  );
  return rows[0]?.id ?? null;
}

export async function setMail(client: PoolClient, orgId: string, id: string, mailId: string): Promise<void> {
  await userStore(client, (store) => store.invitation.updateMany({ where: { orgId, id }, data: { mailId } }));
}

export type LockedInvitation = Columns<
  'app.invitation',
  'id' | 'email' | 'role' | 'message' | 'accepted_by' | 'mail_id' | 'invited_by',
  { role: Role }
> & {
  readonly state: Invitation['state'];
};

/** Locked until the transaction ends. */
export async function lockInvitation(client: PoolClient, orgId: string, id: string): Promise<LockedInvitation | null> {
  const { rows } = await client.query<LockedInvitation>(
    `SELECT id, email, role, message, accepted_by, mail_id, invited_by,
       CASE WHEN accepted_at IS NOT NULL THEN 'accepted' WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= now() THEN 'expired' ELSE 'open' END AS state
     FROM app.invitation WHERE org_id = $1 AND id = $2 FOR UPDATE`,
    [orgId, id],
  );
  return rows[0] ?? null;
}

/** Another token in place of the one before, for `days` from now. */
export async function renewInvitation(
  client: PoolClient,
  orgId: string,
  id: string,
  { tokenHash, days }: { readonly tokenHash: Buffer; readonly days: number },
): Promise<void> {
  const now = await transactionTime(client);
  const data = {
    tokenHash: new Uint8Array(tokenHash),
    expiresAt: new Date(now.getTime() + days * 86_400_000),
    mailId: null,
  };
  await userStore(client, (store) => store.invitation.updateMany({ where: { orgId, id }, data }));
}

export async function revokeInvitation(client: PoolClient, orgId: string, id: string): Promise<void> {
  const now = await transactionTime(client);
  await userStore(client, (store) => store.invitation.updateMany({ where: { orgId, id }, data: { revokedAt: now } }));
}

export async function markAccepted(client: PoolClient, orgId: string, id: string, userId: string): Promise<void> {
  const now = await transactionTime(client);
  await userStore(client, (store) =>
    store.invitation.updateMany({ where: { orgId, id }, data: { acceptedAt: now, acceptedBy: userId } }),
  );
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

export async function findInvitation(
  pool: Pick<SqlPool, 'query'>,
  hash: Buffer,
): Promise<(FoundInvitation & { readonly state: Invitation['state'] }) | null> {
  const { rows } = await pool.query<FoundInvitation & { expired: boolean }>(
    'SELECT *, expires_at <= now() AS expired FROM app.find_invitation($1)',
    [hash],
  );
  const row = rows[0];
  if (row === undefined) return null;
  return {
    ...row,
    state:
      row.accepted_at !== null ? 'accepted' : row.revoked_at !== null ? 'revoked' : row.expired ? 'expired' : 'open',
  };
}
