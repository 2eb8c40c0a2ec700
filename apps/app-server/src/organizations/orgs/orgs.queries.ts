import type { Org, Role } from '@slipway/contracts/organizations';
import { type PoolClient, type SqlPool, transactionTime } from '@slipway/db/sql';
import { userStore } from '@slipway/db/store';

/** @returns false when the address is taken. */
export async function insertOrg(client: PoolClient, org: { id: string; slug: string; name: string }): Promise<boolean> {
  const { count } = await userStore(client, (store) =>
    store.org.createMany({ data: { ...org, kind: 'company' }, skipDuplicates: true }),
  );
  return count === 1;
}

/** Which of these addresses are taken, by whomever. */
export async function takenSlugs(pool: Pick<SqlPool, 'query'>, slugs: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<{ slug: string }>('SELECT slug FROM app.taken_slugs($1)', [slugs]);
  return new Set(rows.map(({ slug }) => slug));
}

/** @throws what Prisma throws when the slug is taken (`P2002`). */
export async function updateOrg(
  client: PoolClient,
  orgId: string,
  { name, slug }: { name: string; slug: string },
): Promise<void> {
  await userStore(client, (store) => store.org.updateMany({ where: { id: orgId }, data: { name, slug } }));
}

/**
 * For the holder of its row. @returns when it will be deleted: `hours` from now by the database's clock, or at the time
 * that it waits for already.
 */
export async function markForDeletion(client: PoolClient, orgId: string, hours: number): Promise<Date> {
  const deletesAt = new Date((await transactionTime(client)).getTime() + hours * 3_600_000);
  await userStore(client, (store) =>
    store.org.updateMany({ where: { id: orgId, deletesAt: null }, data: { deletesAt } }),
  );
  const org = await userStore(client, (store) =>
    store.org.findUniqueOrThrow({ where: { id: orgId }, select: { deletesAt: true } }),
  );
  return org.deletesAt ?? deletesAt;
}

/** @returns false when its time is over: it is being deleted. */
export async function unmarkForDeletion(client: PoolClient, orgId: string): Promise<boolean> {
  const now = await transactionTime(client);
  const { count } = await userStore(client, (store) =>
    store.org.updateMany({ where: { id: orgId, deletesAt: { gt: now } }, data: { deletesAt: null } }),
  );
  return count === 1;
}

/** Every way into its sandboxes, whoever has it. */
export async function endSandboxGrants(client: PoolClient, orgId: string): Promise<void> {
  await client.query(
    'UPDATE app.sandbox_grant SET revoked_at = now() WHERE org_id = $1 AND revoked_at IS NULL AND expires_at > now()',
    [orgId],
  );
}

export async function isActiveAccount(client: PoolClient, userId: string): Promise<boolean> {
  const account = await userStore(client, (store) =>
    store.userAccount.findFirst({ select: { id: true }, where: { id: userId, deactivatedAt: null } }),
  );
  return account !== null;
}

/** An organization as one of its members sees it who has come in, so that nothing is asked of them any more. */
export async function readOrg(
  client: PoolClient,
  orgId: string,
  userId: string,
): Promise<Omit<Org, 'permissions'> | null> {
  const member = await userStore(client, (store) =>
    store.membership.findFirst({
      where: { orgId, userId, org: {} },
      select: { role: true, org: { select: { id: true, slug: true, name: true, kind: true, deletesAt: true } } },
    }),
  );
  if (member === null) return null;
  const { deletesAt, kind, ...org } = member.org;
  return {
    ...org,
    kind: kind as Org['kind'],
    role: member.role as Role,
    deletesAt: deletesAt?.toISOString() ?? null,
    needs: null,
  };
}
