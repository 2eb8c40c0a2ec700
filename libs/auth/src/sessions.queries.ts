import { type SqlPool, transactionTime } from '@slipway/db/sql';
import { type Prisma, userStore } from '@slipway/db/store';

export interface SessionRecord {
  readonly id: string;
  readonly userAgent: string | null;
  readonly address: string | null;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  readonly expiresAt: Date;
}

/**
 * Sessions of this user that hold, the one used last first: an order by two columns in one, for which Prisma has no
 * words.
 */
export async function listSessions(pool: SqlPool, userId: string, limit: number): Promise<SessionRecord[]> {
  const { rows } = await pool.query<SessionRecord>({
    name: 'list-sessions',
    text: `SELECT id, user_agent AS "userAgent", address, created_at AS "createdAt", coalesce(last_seen_at, created_at) AS "lastSeenAt", expires_at AS "expiresAt"
           FROM app.session WHERE user_id = $1 AND expires_at > now() ORDER BY coalesce(last_seen_at, created_at) DESC, id LIMIT $2`,
    values: [userId, limit],
  });
  return rows;
}

/** One session of this user: a list of none or one. */
export function findSessionOf(pool: SqlPool, userId: string, id: string): Promise<string[]> {
  return idsWhere(pool, { userId, id });
}

/** All sessions of this user. @param except one that is left out. */
export function findSessionsOf(pool: SqlPool, userId: string, except: string | null): Promise<string[]> {
  return idsWhere(pool, { userId, ...(except === null ? {} : { id: { not: except } }) });
}

/** Sessions that began at the issuer: one of its own, or all of a subject's. Neither: none. */
export async function findSessionsOfIssuer(
  pool: SqlPool,
  issuer: string,
  subject: string | null,
  issuerSession: string | null,
): Promise<string[]> {
  if (subject === null && issuerSession === null) return [];
  return idsWhere(pool, {
    user: { issuer, ...(subject === null ? {} : { subject }) },
    ...(issuerSession === null ? {} : { issuerSession }),
  });
}

async function idsWhere(pool: SqlPool, where: Prisma.SessionWhereInput): Promise<string[]> {
  const rows = await userStore(pool, (store) => store.session.findMany({ where, select: { id: true } }));
  return rows.map(({ id }) => id);
}

export async function deleteExpiredSessions(pool: SqlPool): Promise<void> {
  const now = await transactionTime(pool);
  await userStore(pool, (store) => store.session.deleteMany({ where: { expiresAt: { lt: now } } }));
}

export interface ClaimedTokens {
  readonly userId: string;
  readonly tokens: Uint8Array;
}

/**
 * Moves the due time of the tokens from `seen` to `until`. `null`: another replica has moved it, or the session is
 * over.
 */
export async function claimRefresh(pool: SqlPool, id: string, seen: Date, until: Date): Promise<ClaimedTokens | null> {
  const [claimed] = await userStore(pool, (store) =>
    store.session.updateManyAndReturn({
      where: { id, accessExpiresAt: seen },
      data: { accessExpiresAt: until },
      select: { userId: true, tokens: true },
    }),
  );
  return claimed ?? null;
}

export async function storeTokens(pool: SqlPool, id: string, tokens: Uint8Array, accessExpiresAt: Date): Promise<void> {
  const data = { tokens: new Uint8Array(tokens), accessExpiresAt };
  await userStore(pool, (store) => store.session.updateMany({ where: { id }, data }));
}

/** The tokens are due when the session ends: never, then. */
export async function neverRefresh(pool: SqlPool, id: string): Promise<void> {
  const session = await userStore(pool, (store) =>
    store.session.findUnique({ where: { id }, select: { expiresAt: true } }),
  );
  if (session === null) return;
  await userStore(pool, (store) =>
    store.session.updateMany({ where: { id }, data: { accessExpiresAt: session.expiresAt } }),
  );
}
