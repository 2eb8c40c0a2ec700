import { LEASE_SECONDS } from '@slipway/contracts/credentials';
import type { PoolClient } from '@slipway/db/sql';
import type { SealedCredential } from './open-credentials.queries.js';

/**
 * Lets one process use the refresh token that was read, alone. One whose lease has ended without a word may have used
 * it: that is noted.
 * @returns false when another process has it, or it is another one by now.
 */
export async function leaseRenewal(
  client: PoolClient,
  orgId: string,
  { id, sealed }: Pick<SealedCredential, 'id' | 'sealed'>,
  lease: string,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE app.credential SET renew_unsure = renew_unsure OR renewing_by IS NOT NULL, renewing_by = $4,
       renewing_until = clock_timestamp() + make_interval(secs => $5)
     WHERE org_id = $1 AND id = $2 AND sealed = $3 AND state = 'active'
       AND (renewing_by IS NULL OR renewing_until <= clock_timestamp())`,
    [orgId, id, sealed, lease, LEASE_SECONDS],
  );
  return rowCount === 1;
}

export interface Renewal {
  readonly credential: string;
  readonly lease: string;
}

/** What is kept of a credential while it is renewed. */
export interface RenewingCredential extends SealedCredential {
  readonly unsure: boolean;
  /** The last lease that has ended with another token. */
  readonly renewedBy: string | null;
  readonly renewingBy: string | null;
}

export async function renewingCredential(
  client: PoolClient,
  orgId: string,
  id: string,
): Promise<RenewingCredential | null> {
  const { rows } = await client.query<RenewingCredential>(
    `SELECT id, name, scope, scope_value AS "scopeValue", use, state, sealed, key_version AS "keyVersion",
       reference_key AS "referenceKey", renew_unsure AS unsure, renewed_by AS "renewedBy", renewing_by AS "renewingBy"
     FROM app.credential WHERE org_id = $1 AND id = $2`,
    [orgId, id],
  );
  return rows[0] ?? null;
}

/** Keeps what a renewal has brought. @returns false when the lease is over. */
export async function keepRenewed(
  client: PoolClient,
  orgId: string,
  { credential, lease }: Renewal,
  { bytes, keyVersion }: { readonly bytes: Uint8Array; readonly keyVersion: number },
): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE app.credential SET sealed = $4, key_version = $5, renewing_by = NULL, renewing_until = NULL, renew_unsure = false,
       renewed_by = $3 WHERE org_id = $1 AND id = $2 AND renewing_by = $3`,
    [orgId, credential, lease, bytes, keyVersion],
  );
  return rowCount === 1;
}

/** Another process may try. @param unsure the refresh token may be used up. */
export async function endRenewal(
  client: PoolClient,
  orgId: string,
  { credential, lease }: Renewal,
  unsure: boolean,
): Promise<void> {
  await client.query(
    `UPDATE app.credential SET renewing_by = NULL, renewing_until = NULL, renew_unsure = renew_unsure OR $4
     WHERE org_id = $1 AND id = $2 AND renewing_by = $3`,
    [orgId, credential, lease, unsure],
  );
}
