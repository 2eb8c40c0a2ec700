import { inOrg, type SqlPool } from '@slipway/db/sql';

/** The connection of an address, with its webhook secrets of now as they are stored, the newest first. */
export interface FoundConnection {
  readonly orgId: string;
  readonly provider: string;
  readonly signature: string;
  readonly secrets: readonly { readonly id: string; readonly bytes: Buffer; readonly keyVersion: number }[];
}

/** Of whichever organization: who delivers has none yet. */
export async function findIntegration(pool: SqlPool, id: string): Promise<FoundConnection | null> {
  const { rows } = await pool.query<{
    org_id: string;
    provider: string;
    signature: string;
    secret_ids: string[] | null;
    sealed: Buffer[] | null;
    key_versions: number[] | null;
  }>({
    name: 'find-integration',
    text: 'SELECT org_id, provider, signature, secret_ids, sealed, key_versions FROM app.find_integration($1)',
    values: [id],
  });
  const row = rows[0];
  if (row === undefined) return null;
  const secrets = (row.secret_ids ?? []).map((secret, index) => ({
    id: secret,
    bytes: row.sealed?.[index] as Buffer,
    keyVersion: row.key_versions?.[index] as number,
  }));
  return { orgId: row.org_id, provider: row.provider, signature: row.signature, secrets };
}

/** Organization of an account of the platform's app. `null`: unclaimed. */
export async function findIntegrationOfAccount(
  pool: SqlPool,
  provider: string,
  host: string,
  account: string,
): Promise<{ id: string; orgId: string } | null> {
  const { rows } = await pool.query<{ id: string; org_id: string }>({
    name: 'find-integration-of-account',
    text: 'SELECT id, org_id FROM app.find_integration_of_account($1, $2, $3)',
    values: [provider, host, account],
  });
  return rows[0] === undefined ? null : { id: rows[0].id, orgId: rows[0].org_id };
}

export interface NewDelivery {
  readonly id: string;
  readonly connectionId: string;
  readonly deliveryId: string;
  readonly event: string;
  readonly sealed: { readonly bytes: Uint8Array; readonly keyVersion: number };
  readonly bytes: number;
  readonly outboxId: string;
}

/**
 * One round trip and one commit: the delivery and the job that reads it. `gone`: its connection was deleted meanwhile.
 */
export async function takeDelivery(
  pool: SqlPool,
  orgId: string,
  made: NewDelivery,
): Promise<'stored' | 'duplicate' | 'gone'> {
  const { rows } = await pool.query<{ outcome: 'stored' | 'duplicate' | 'gone' }>({
    name: 'take-delivery',
    text: 'SELECT app.take_delivery($1, $2, $3, $4, $5, $6, $7, $8, $9) AS outcome',
    values: [
      orgId,
      made.connectionId,
      made.id,
      made.deliveryId,
      made.event,
      made.sealed.bytes,
      made.sealed.keyVersion,
      made.bytes,
      made.outboxId,
    ],
  });
  if (rows[0] === undefined) throw new Error('take_delivery answered nothing');
  return rows[0].outcome;
}

/** A test of the provider that is answered and not kept. */
export async function noteVerified(pool: SqlPool, orgId: string, connectionId: string): Promise<void> {
  await inOrg(pool, orgId, (client) =>
    client.query({
      name: 'note-verified',
      text: `UPDATE app.integration_connection SET verified_at = coalesce(verified_at, now()), state = CASE state WHEN 'unverified' THEN 'active' ELSE state END
             WHERE org_id = $1 AND id = $2 AND verified_at IS NULL`,
      values: [orgId, connectionId],
    }),
  );
}
