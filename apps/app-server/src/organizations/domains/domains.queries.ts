import type { OrgDomain } from '@slipway/contracts/organizations';
import type { Columns, PoolClient, SqlPool } from '@slipway/db/sql';

export type DomainRow = Columns<
  'app.org_domain',
  | 'domain'
  | 'challenge'
  | 'auto_join_role'
  | 'created_at'
  | 'verified_at'
  | 'checked_at'
  | 'confirmed_at'
  | 'missing_since',
  { auto_join_role: OrgDomain['autoJoinRole'] }
>;

const COLUMNS = 'domain, challenge, auto_join_role, created_at, verified_at, checked_at, confirmed_at, missing_since';

export async function listDomains(client: PoolClient, orgId: string): Promise<DomainRow[]> {
  const { rows } = await client.query<DomainRow>(
    `SELECT ${COLUMNS} FROM app.org_domain WHERE org_id = $1 ORDER BY domain`,
    [orgId],
  );
  return rows;
}

export async function findDomain(client: PoolClient, orgId: string, domain: string): Promise<DomainRow | null> {
  const { rows } = await client.query<DomainRow>(
    `SELECT ${COLUMNS} FROM app.org_domain WHERE org_id = $1 AND domain = $2`,
    [orgId, domain],
  );
  return rows[0] ?? null;
}

/** @returns false when the organization claims it already. */
export async function insertDomain(
  client: PoolClient,
  orgId: string,
  domain: string,
  challenge: string,
): Promise<boolean> {
  const { rowCount } = await client.query(
    'INSERT INTO app.org_domain (org_id, domain, challenge) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [orgId, domain, challenge],
  );
  return rowCount === 1;
}

/** As `findDomain`; locks it until the transaction ends. */
export async function lockDomain(client: PoolClient, orgId: string, domain: string): Promise<DomainRow | null> {
  const { rows } = await client.query<DomainRow>(
    `SELECT ${COLUMNS} FROM app.org_domain WHERE org_id = $1 AND domain = $2 FOR UPDATE`,
    [orgId, domain],
  );
  return rows[0] ?? null;
}

/** @throws the database's unique violation when another organization has verified it. */
export async function markVerified(client: PoolClient, orgId: string, domain: string): Promise<void> {
  await client.query(
    `UPDATE app.org_domain SET checked_at = now(), confirmed_at = now(), missing_since = NULL, verified_at = coalesce(verified_at, now())
     WHERE org_id = $1 AND domain = $2`,
    [orgId, domain],
  );
}

/** After a lookup that found the record, or had no certain answer. */
export async function markChecked(
  client: PoolClient,
  orgId: string,
  domain: string,
  answer: 'found' | 'unknown',
): Promise<void> {
  const found = answer === 'found' ? ', confirmed_at = now(), missing_since = NULL' : '';
  await client.query(`UPDATE app.org_domain SET checked_at = now()${found} WHERE org_id = $1 AND domain = $2`, [
    orgId,
    domain,
  ]);
}

export async function markMissing(client: PoolClient, orgId: string, domain: string, since: Date): Promise<void> {
  await client.query(
    'UPDATE app.org_domain SET checked_at = now(), missing_since = $3 WHERE org_id = $1 AND domain = $2',
    [orgId, domain, since],
  );
}

/** A claim to verify again: another organization may verify it meanwhile. */
export async function withdrawVerification(client: PoolClient, orgId: string, domain: string): Promise<void> {
  await client.query(
    `UPDATE app.org_domain SET checked_at = now(), verified_at = NULL, auto_join_role = NULL, missing_since = NULL, confirmed_at = NULL
     WHERE org_id = $1 AND domain = $2`,
    [orgId, domain],
  );
}

/**
 * Verified domains not checked since `before`, longest ago first; each counts as checked from now on, so that one
 * replica takes it.
 */
export async function takeDueDomains(
  client: PoolClient,
  before: Date,
  limit: number,
): Promise<Array<{ orgId: string; domain: string }>> {
  const { rows } = await client.query<Columns<'app.org_domain', 'domain'> & { orgId: string }>(
    `UPDATE app.org_domain d SET checked_at = now() FROM (
       SELECT org_id, domain FROM app.org_domain WHERE verified_at IS NOT NULL AND (checked_at IS NULL OR checked_at < $1)
       ORDER BY checked_at NULLS FIRST LIMIT $2 FOR UPDATE SKIP LOCKED) due
     WHERE d.org_id = due.org_id AND d.domain = due.domain RETURNING d.org_id AS "orgId", d.domain`,
    [before, limit],
  );
  return rows;
}

export async function setAutoJoinRole(
  client: PoolClient,
  orgId: string,
  domain: string,
  role: OrgDomain['autoJoinRole'],
): Promise<void> {
  await client.query('UPDATE app.org_domain SET auto_join_role = $3 WHERE org_id = $1 AND domain = $2', [
    orgId,
    domain,
    role,
  ]);
}

export async function deleteDomain(client: PoolClient, orgId: string, domain: string): Promise<void> {
  await client.query('DELETE FROM app.org_domain WHERE org_id = $1 AND domain = $2', [orgId, domain]);
}

/** The organization that takes in whoever has an address of the domain, if there is one. */
export async function findAutoJoin(
  pool: Pick<SqlPool, 'query'>,
  domain: string,
): Promise<{ orgId: string; role: NonNullable<OrgDomain['autoJoinRole']> } | null> {
  const { rows } = await pool.query<{ org_id: string; role: NonNullable<OrgDomain['autoJoinRole']> }>(
    'SELECT org_id, role FROM app.find_auto_join($1)',
    [domain],
  );
  return rows[0] === undefined ? null : { orgId: rows[0].org_id, role: rows[0].role };
}

/** A user who can sign in, and whose address is confirmed. */
export async function findConfirmedUser(
  pool: Pick<SqlPool, 'query'>,
  userId: string,
): Promise<{ name: string; email: string } | null> {
  const { rows } = await pool.query<Columns<'app.user_account', 'name'> & { email: string }>(
    'SELECT name, lower(email) AS email FROM app.user_account WHERE id = $1 AND email IS NOT NULL AND email_verified AND deactivated_at IS NULL',
    [userId],
  );
  return rows[0] ?? null;
}
