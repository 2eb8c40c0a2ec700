import type { Member, Role } from '@slipway/contracts/organizations';
import { type Columns, inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import { userStore } from '@slipway/db/store';

type MemberRow = Columns<
  'app.membership',
  'user_id' | 'role' | 'source' | 'created_at',
  { role: Role; source: Member['source'] }
> &
  Columns<'app.user_account', 'name' | 'email' | 'last_active_at'> & {
    readonly deactivated: boolean;
  };

const COLUMNS =
  'm.user_id, u.name, u.email, m.role, m.source, m.created_at, u.last_active_at, u.deactivated_at IS NOT NULL AS deactivated';

export interface MemberPosition {
  readonly joinedAt: string;
  readonly userId: string;
}

/**
 * Members that a search scans before it uses the word index: what nearly all members have, such as the company's
 * domain, is found among them at once.
 */
const LOOKED_AT = 1_000;

/**
 * Last joined first; `limit` rows after `after`. One statement a shape of the question, so that each is planned for its
 * own index.
 * @param filter.spending whether to say what each has spent.
 * @param filter.words beginnings of words, lower case, letters and digits only; all must be there.
 */
export function listMembers(
  pool: SqlPool,
  orgId: string,
  filter: {
    role: Role | undefined;
    words: readonly string[];
    after: MemberPosition | null;
    limit: number;
    spending: boolean;
  },
): Promise<Member[]> {
  const values: unknown[] = [orgId, filter.limit];
  const take = (value: unknown): string => `$${values.push(value)}`;
  const where = ['m.org_id = $1'];
  if (filter.role !== undefined) where.push(`m.role = ${take(filter.role)}`);
  if (filter.after !== null)
    where.push(
      `(m.created_at, m.user_id) < (${take(filter.after.joinedAt)}::timestamptz, ${take(filter.after.userId)})`,
    );
  const members = where.join(' AND ');
  const order = 'ORDER BY m.created_at DESC, m.user_id DESC';
  const listed = async (client: PoolClient): Promise<Member[]> => {
    const rows = async (from: string, condition: string): Promise<Member[]> => {
      const text = `SELECT ${COLUMNS} FROM ${from} m JOIN app.user_account u ON u.id = m.user_id WHERE ${condition} ${order} LIMIT $2`;
      return (await client.query<MemberRow>(text, values)).rows.map(toMember);
    };
    if (filter.words.length === 0) return rows('app.membership', members);
    const match = `app.person_words(u.name, u.email) @@ to_tsquery('simple', ${take(filter.words.map((word) => `'${word}':*`).join(' & '))})`;
    // IS TRUE: so that the index, which would return nearly all members, is not used.
    const first = await rows(
      `(SELECT * FROM app.membership m WHERE ${members} ${order} LIMIT ${LOOKED_AT})`,
      `(${match}) IS TRUE`,
    );
    return first.length === filter.limit ? first : rows('app.membership', `${members} AND ${match}`);
  };
  return inOrg(pool, orgId, async (client) => {
    const found = await listed(client);
    return filter.spending ? withSpending(client, orgId, found) : found;
  });
}

/** As many as `listMembers` would list without a limit. */
export function countMembers(pool: SqlPool, orgId: string, words: readonly string[]): Promise<number> {
  const match = "AND app.person_words(u.name, u.email) @@ to_tsquery('simple', $2)";
  const text = `SELECT count(*)::int AS count FROM app.membership m JOIN app.user_account u ON u.id = m.user_id WHERE m.org_id = $1 ${words.length === 0 ? '' : match}`;
  const values = words.length === 0 ? [orgId] : [orgId, words.map((word) => `'${word}':*`).join(' & ')];
  return inOrg(
    pool,
    orgId,
    async (client) => (await client.query<{ count: number }>(text, values)).rows[0]?.count ?? 0,
  );
}

export async function findMember(client: PoolClient, orgId: string, userId: string): Promise<Member | null> {
  const row = await userStore(client, (store) =>
    store.membership.findFirst({
      where: { orgId, userId, user: {} },
      select: {
        userId: true,
        role: true,
        source: true,
        createdAt: true,
        user: { select: { name: true, email: true, lastActiveAt: true, deactivatedAt: true } },
      },
    }),
  );
  if (row === null) return null;
  const { name, email, lastActiveAt, deactivatedAt } = row.user;
  const member = {
    user_id: row.userId,
    name,
    email,
    role: row.role as Role,
    source: row.source as Member['source'],
    created_at: row.createdAt,
  };
  return toMember({ ...member, last_active_at: lastActiveAt, deactivated: deactivatedAt !== null });
}

/** The same people with what each has spent. */
export async function withSpending(client: PoolClient, orgId: string, members: readonly Member[]): Promise<Member[]> {
  const spending = await spendingOf(
    client,
    orgId,
    members.map(({ userId }) => userId),
  );
  return members.map((member) => ({ ...member, spending: spending.get(member.userId) ?? null }));
}

/** What these people have spent in the present cycle, and their own limits. Who has spent nothing is there too. */
async function spendingOf(
  client: PoolClient,
  orgId: string,
  userIds: readonly string[],
): Promise<Map<string, NonNullable<Member['spending']>>> {
  const { rows } = await client.query<{ user_id: string; spent: string; limit: string | null }>({
    name: 'spending-of-members',
    text: `SELECT p.user_id,
             trim_scale(coalesce((SELECT sum(d.cost_usd) FROM app.usage_day d
                                  WHERE d.org_id = $1 AND d.user_id = p.user_id AND d.day >= c.first_day AND d.day < c.next_day), 0))::text AS spent,
             CASE WHEN b.enabled THEN trim_scale(CASE WHEN o.user_id IS NULL THEN b.member_limit_usd ELSE o.limit_usd END)::text END AS limit
           FROM unnest($2::text[]) p(user_id) LEFT JOIN app.budget b ON b.org_id = $1
           CROSS JOIN LATERAL app.budget_cycle(coalesce(b.reset_day, 1), now()) c
           LEFT JOIN app.budget_override o ON o.org_id = $1 AND o.user_id = p.user_id`,
    values: [orgId, userIds],
  });
  return new Map(rows.map(({ user_id, spent, limit }) => [user_id, { spentUsd: spent, limitUsd: limit }]));
}

function toMember(row: MemberRow): Member {
  return {
    userId: row.user_id,
    name: row.name,
    email: row.email,
    role: row.role,
    source: row.source,
    joinedAt: row.created_at.toISOString(),
    lastActiveAt: row.last_active_at?.toISOString() ?? null,
    deactivated: row.deactivated,
    spending: null,
  };
}
