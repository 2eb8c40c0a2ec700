import { randomUUID } from 'node:crypto';
import { asSystem, type Columns, type PoolClient, type SqlPool } from '@slipway/db/sql';

export type Account = Columns<'app.user_account', 'id' | 'name' | 'email'> & {
  readonly deactivatedAt: Date | null;
  /** Every organization that the user belongs to. */
  readonly orgs: readonly string[];
};

const system = <T>(pool: SqlPool, work: (client: PoolClient) => Promise<T>): Promise<T> =>
  asSystem(pool, 'slipway_app_system', 'operator', work);

/**
 * Accounts with this e-mail address, whatever its case, or this id. One user may have several, of several identity
 * providers.
 */
export function findAccounts(pool: SqlPool, emailOrId: string): Promise<Account[]> {
  return system(pool, async (client) => {
    const { rows } = await client.query<Account>(
      `SELECT u.id, u.name, u.email, u.deactivated_at AS "deactivatedAt", coalesce(array_agg(m.org_id ORDER BY m.org_id) FILTER (WHERE m.org_id IS NOT NULL), '{}') AS orgs
       FROM app.user_account u LEFT JOIN app.membership m ON m.user_id = u.id WHERE lower(u.email) = lower($1) OR u.id = $1 GROUP BY u.id ORDER BY u.id`,
      [emailOrId],
    );
    return rows;
  });
}

/**
 * Shuts an account: in one transaction its sessions, keys and ways into sandboxes end, in every organization what it
 * runs is wanted paused, and the audit of each says so. Its memberships and conversations stay. Again does it again.
 */
export function deactivate(pool: SqlPool, account: Account): Promise<void> {
  return system(pool, async (client) => {
    await client.query('UPDATE app.user_account SET deactivated_at = coalesce(deactivated_at, now()) WHERE id = $1', [
      account.id,
    ]);
    await client.query('DELETE FROM app.session WHERE user_id = $1', [account.id]);
    await client.query(
      `UPDATE app.api_key SET revoked_at = now() WHERE owner_kind = 'user' AND owner_id = $1 AND revoked_at IS NULL`,
      [account.id],
    );
    await client.query(
      'UPDATE app.sandbox_grant SET revoked_at = now() WHERE user_id = $1 AND revoked_at IS NULL AND expires_at > now()',
      [account.id],
    );
    for (const orgId of account.orgs) {
      await client.query(
        `INSERT INTO app.outbox (id, org_id, queue, key, payload, enqueued_at) VALUES ($1, $2, 'member-removed', $3, $4::jsonb, clock_timestamp())
         ON CONFLICT (queue, key) DO UPDATE SET id = excluded.id, enqueued_at = clock_timestamp()`,
        [randomUUID(), orgId, `${orgId}.${account.id}`, JSON.stringify({ orgId, userId: account.id })],
      );
      await record(client, orgId, 'person.deactivate', account.id);
    }
  });
}

/** Lets the user sign in again. Keys that were revoked stay so. */
export function reactivate(pool: SqlPool, account: Account): Promise<void> {
  return system(pool, async (client) => {
    await client.query('UPDATE app.user_account SET deactivated_at = NULL WHERE id = $1', [account.id]);
    for (const orgId of account.orgs) await record(client, orgId, 'person.reactivate', account.id);
  });
}

async function record(client: PoolClient, orgId: string, action: string, userId: string): Promise<void> {
  await client.query(
    `INSERT INTO app.audit_entry (id, org_id, actor_kind, actor_id, actor_label, action, target) VALUES ($1, $2, 'system', 'operator', 'Operator', $3, $4)`,
    [randomUUID(), orgId, action, userId],
  );
}
