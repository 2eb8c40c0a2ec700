import type { PoolClient } from '@slipway/db/sql';
import type { JWK } from 'jose';

export interface IdentityKeyRow {
  readonly id: string;
  readonly publicKey: JWK;
  readonly sealed: Buffer;
  readonly signsFrom: Date;
}

/** All of them, in the order in which they sign. */
export async function identityKeys(client: PoolClient): Promise<IdentityKeyRow[]> {
  const { rows } = await client.query<IdentityKeyRow>(
    'SELECT id, public_key AS "publicKey", sealed, signs_from AS "signsFrom" FROM app.identity_key ORDER BY signs_from, id',
  );
  return rows;
}

/** Until the end of the transaction no other process changes keys. */
export async function lockIdentityKeys(client: PoolClient): Promise<void> {
  await client.query("SELECT pg_advisory_xact_lock(hashtextextended('identity-keys', 0))");
}

export async function addIdentityKey(
  client: PoolClient,
  { id, publicKey, sealed, signsFrom }: Omit<IdentityKeyRow, 'sealed'> & { readonly sealed: Uint8Array },
): Promise<void> {
  await client.query(
    'INSERT INTO app.identity_key (id, public_key, sealed, signs_from) VALUES ($1, $2::jsonb, $3, $4)',
    [id, JSON.stringify(publicKey), sealed, signsFrom],
  );
}

export async function dropIdentityKeys(client: PoolClient, ids: readonly string[]): Promise<void> {
  await client.query('DELETE FROM app.identity_key WHERE id = ANY ($1)', [ids]);
}
