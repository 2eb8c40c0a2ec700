import type { Permission, Role } from '@slipway/contracts/organizations';
import type { Columns, PoolClient } from '@slipway/db/sql';

/**
 * A device belongs to no organization until a user approves it for one, so these queries run as the system role; each
 * finds its row by a code's hash.
 */

export type DeviceRow = Columns<
  'app.device_authorization',
  | 'id'
  | 'client'
  | 'scopes'
  | 'address'
  | 'created_at'
  | 'expires_at'
  | 'interval_seconds'
  | 'last_asked_at'
  | 'state'
  | 'org_id'
  | 'user_id'
  | 'granted'
  | 'key_days',
  { scopes: Permission[]; state: 'waiting' | 'approved' | 'denied' | 'delivered'; granted: Permission[] }
>;

export interface NewDevice {
  readonly id: string;
  readonly deviceCodeHash: Buffer;
  readonly userCodeHash: Buffer;
  readonly client: string;
  readonly scopes: readonly Permission[];
  readonly address: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly intervalSeconds: number;
}

/** Clears away those that are over. @returns false when the user code is another device's at this moment. */
export async function insertDevice(client: PoolClient, device: NewDevice): Promise<boolean> {
  await client.query('DELETE FROM app.device_authorization WHERE expires_at < $1', [device.createdAt]);
  const { rowCount } = await client.query(
    `INSERT INTO app.device_authorization (id, device_code_hash, user_code_hash, client, scopes, address, created_at, expires_at, interval_seconds)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (user_code_hash) DO NOTHING`,
    [
      device.id,
      device.deviceCodeHash,
      device.userCodeHash,
      device.client,
      device.scopes,
      device.address,
      device.createdAt,
      device.expiresAt,
      device.intervalSeconds,
    ],
  );
  return rowCount === 1;
}

const COLUMNS =
  'id, client, scopes, address, created_at, expires_at, interval_seconds, last_asked_at, state, org_id, user_id, granted, key_days';

/** The device that waits behind a user code; locked until the transaction ends. */
export async function lockWaiting(client: PoolClient, userCodeHash: Buffer, now: Date): Promise<DeviceRow | null> {
  const { rows } = await client.query<DeviceRow>(
    `SELECT ${COLUMNS} FROM app.device_authorization WHERE user_code_hash = $1 AND state = 'waiting' AND expires_at > $2 FOR UPDATE`,
    [userCodeHash, now],
  );
  return rows[0] ?? null;
}

/** The device that holds a device code, whatever became of it; locked until the transaction ends. */
export async function lockByDeviceCode(client: PoolClient, deviceCodeHash: Buffer): Promise<DeviceRow | null> {
  const { rows } = await client.query<DeviceRow>(
    `SELECT ${COLUMNS} FROM app.device_authorization WHERE device_code_hash = $1 FOR UPDATE`,
    [deviceCodeHash],
  );
  return rows[0] ?? null;
}

export async function noteAsked(client: PoolClient, id: string, now: Date, intervalSeconds: number): Promise<void> {
  await client.query('UPDATE app.device_authorization SET last_asked_at = $2, interval_seconds = $3 WHERE id = $1', [
    id,
    now,
    intervalSeconds,
  ]);
}

export async function approve(
  client: PoolClient,
  id: string,
  grant: {
    readonly orgId: string;
    readonly userId: string;
    readonly scopes: readonly Permission[];
    readonly days: number;
  },
): Promise<void> {
  await client.query(
    "UPDATE app.device_authorization SET state = 'approved', org_id = $2, user_id = $3, granted = $4, key_days = $5 WHERE id = $1",
    [id, grant.orgId, grant.userId, grant.scopes, grant.days],
  );
}

export async function setState(client: PoolClient, id: string, state: 'denied' | 'delivered'): Promise<void> {
  await client.query('UPDATE app.device_authorization SET state = $2 WHERE id = $1', [id, state]);
}

/** Who approved, as a member now; `null` when they are none any more. */
export async function readApprover(
  client: PoolClient,
  orgId: string,
  userId: string,
): Promise<{ readonly name: string; readonly role: Role } | null> {
  const { rows } = await client.query<
    Columns<'app.user_account', 'name'> & Columns<'app.membership', 'role', { role: Role }>
  >(
    `SELECT u.name, m.role FROM app.membership m JOIN app.user_account u ON u.id = m.user_id JOIN app.org o ON o.id = m.org_id
     WHERE m.org_id = $1 AND m.user_id = $2 AND u.deactivated_at IS NULL AND o.deletes_at IS NULL`,
    [orgId, userId],
  );
  return rows[0] ?? null;
}
