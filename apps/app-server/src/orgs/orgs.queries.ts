import type { Org } from '@slipway/contracts';
import type { PoolClient, SqlPool } from '@slipway/db/sql';

/** @returns false when the address is taken. */
export async function insertOrg(client: PoolClient, org: { id: string; slug: string; name: string }): Promise<boolean> {
  const { rowCount } = await client.query(`INSERT INTO app.org (id, slug, name, kind) VALUES ($1, $2, $3, 'company') ON CONFLICT (slug) DO NOTHING`, [
    org.id,
    org.slug,
    org.name,
  ]);
  return rowCount === 1;
}

/** Which of these addresses are taken, by whomever. */
export async function takenSlugs(pool: Pick<SqlPool, 'query'>, slugs: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<{ slug: string }>('SELECT slug FROM app.taken_slugs($1)', [slugs]);
  return new Set(rows.map(({ slug }) => slug));
}

export async function updateOrg(client: PoolClient, orgId: string, org: { name: string; slug: string }): Promise<void> {
  await client.query('UPDATE app.org SET name = $2, slug = $3 WHERE id = $1', [orgId, org.name, org.slug]);
}

/** @returns when it will be deleted: `hours` from now by the database's clock, or at the time that it waits for already. */
export async function markForDeletion(client: PoolClient, orgId: string, hours: number): Promise<Date> {
  const { rows } = await client.query<{ deletes_at: Date }>(
    `UPDATE app.org SET deletes_at = coalesce(deletes_at, now() + $2 * interval '1 hour') WHERE id = $1 RETURNING deletes_at`,
    [orgId, hours],
  );
  return (rows[0] as { deletes_at: Date }).deletes_at;
}

/** @returns false when its time is over: it is being deleted. */
export async function unmarkForDeletion(client: PoolClient, orgId: string): Promise<boolean> {
  const { rowCount } = await client.query('UPDATE app.org SET deletes_at = NULL WHERE id = $1 AND deletes_at > now()', [orgId]);
  return rowCount === 1;
}

/** Every way into its sandboxes, whoever has it. */
export async function endSandboxGrants(client: PoolClient, orgId: string): Promise<void> {
  await client.query('UPDATE app.sandbox_grant SET revoked_at = now() WHERE org_id = $1 AND revoked_at IS NULL AND expires_at > now()', [orgId]);
}

export async function isActiveAccount(client: PoolClient, userId: string): Promise<boolean> {
  const { rowCount } = await client.query('SELECT 1 FROM app.user_account WHERE id = $1 AND deactivated_at IS NULL', [userId]);
  return rowCount === 1;
}

/** An organization as one of its members sees it who has come in, so that nothing is asked of them any more. */
export async function readOrg(client: PoolClient, orgId: string, userId: string): Promise<Omit<Org, 'permissions'> | null> {
  const { rows } = await client.query<Omit<Org, 'permissions' | 'deletesAt' | 'needs'> & { deletes_at: Date | null }>(
    'SELECT o.id, o.slug, o.name, o.kind, o.deletes_at, m.role FROM app.org o JOIN app.membership m ON m.org_id = o.id WHERE o.id = $1 AND m.user_id = $2',
    [orgId, userId],
  );
  const row = rows[0];
  if (row === undefined) return null;
  const { deletes_at, ...org } = row;
  return { ...org, deletesAt: deletes_at?.toISOString() ?? null, needs: null };
}
