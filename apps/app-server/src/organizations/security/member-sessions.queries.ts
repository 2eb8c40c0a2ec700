import type { Role } from '@slipway/contracts/organizations';
import { type PoolClient, transactionTime } from '@slipway/db/sql';
import { userStore } from '@slipway/db/store';

export interface MemberSessionRow {
  readonly id: string;
  readonly userId: string;
  readonly userName: string;
  readonly email: string | null;
  readonly role: Role;
  readonly userAgent: string | null;
  readonly address: string | null;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  readonly secondFactor: boolean;
  readonly refused: boolean;
}

/**
 * Active ones, last begun first; by membership, since sessions have no organization. @param filter.userId `null`: of
 * all users.
 */
export async function listMemberSessions(
  client: PoolClient,
  orgId: string,
  {
    userId,
    after,
    limit,
  }: { userId: string | null; after: { readonly createdAt: string; readonly id: string } | null; limit: number },
): Promise<MemberSessionRow[]> {
  const { rows } = await client.query<MemberSessionRow>(
    `SELECT s.id, s.user_id AS "userId", u.name AS "userName", u.email, m.role, s.user_agent AS "userAgent", s.address, s.created_at AS "createdAt",
       coalesce(s.last_seen_at, s.created_at) AS "lastSeenAt", s.second_factor AS "secondFactor", app.session_needs(s, o) IS NOT NULL AS refused
     FROM app.membership m JOIN app.session s ON s.user_id = m.user_id AND s.expires_at > now() JOIN app.user_account u ON u.id = m.user_id JOIN app.org o ON o.id = m.org_id
     WHERE m.org_id = $1 AND ($2::text IS NULL OR m.user_id = $2) AND ($3::timestamptz IS NULL OR (s.created_at, s.id) < ($3::timestamptz, $4::text))
     ORDER BY s.created_at DESC, s.id DESC LIMIT $5`,
    [orgId, userId, after?.createdAt ?? null, after?.id ?? null, limit],
  );
  return rows;
}

/** One session of a member, or all of one. */
export async function findMemberSessions(
  client: PoolClient,
  orgId: string,
  which: { readonly sessionId: string } | { readonly userId: string },
): Promise<Array<{ id: string; userId: string; userAgent: string | null }>> {
  const now = await transactionTime(client);
  const chosen = 'sessionId' in which ? { id: which.sessionId } : { userId: which.userId };
  return userStore(client, (store) =>
    store.session.findMany({
      where: { ...chosen, expiresAt: { gt: now }, user: { memberships: { some: { orgId } } } },
      orderBy: { id: 'asc' },
      select: { id: true, userId: true, userAgent: true },
    }),
  );
}

/**
 * Ends them, with an entry each in the audit of the user's own organization, which does not say where the admin was.
 * The transaction is the system's afterwards (`app.end_sessions`).
 */
export async function endSessions(
  client: PoolClient,
  sessions: ReadonlyArray<{ readonly id: string }>,
  requestId: string | null,
): Promise<void> {
  await client.query(`SELECT id FROM app.end_sessions($1, 'ended-by-admin', 'system', $2, NULL)`, [
    sessions.map(({ id }) => id),
    requestId,
  ]);
}
