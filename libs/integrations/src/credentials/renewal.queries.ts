import { randomUUID } from 'node:crypto';
import type { PoolClient } from '@slipway/db/sql';

export interface SealedTokens {
  readonly id: string;
  readonly bytes: Uint8Array;
  readonly keyVersion: number;
  readonly expiresAt: Date | null;
  readonly renewAt: Date | null;
  /** `null`: the provider has not said. */
  readonly scopes: readonly string[] | null;
}

export type Claim =
  /** The caller alone renews, until the time it has claimed for. */
  | { readonly kind: 'claimed'; readonly failures: number }
  /** Another renews now. */
  | { readonly kind: 'busy' }
  /** A renewal has failed; not before then. */
  | { readonly kind: 'later'; readonly at: Date; readonly problem: string | null }
  /** The provider has refused for good. */
  | { readonly kind: 'refused' }
  /** They are not what the connection has any more. */
  | { readonly kind: 'replaced' };

/** Claims the renewal of one pair of tokens, under its row lock. */
export async function claimRenewal(
  client: PoolClient,
  orgId: string,
  { id, now, claimMs }: { readonly id: string; readonly now: Date; readonly claimMs: number },
): Promise<Claim> {
  const { rows } = await client.query<{
    renewingUntil: Date | null;
    renewAt: Date | null;
    failures: number;
    problem: string | null;
    refusedAt: Date | null;
  }>(
    `SELECT renewing_until AS "renewingUntil", renew_at AS "renewAt", renew_failures AS failures, renew_problem AS problem, refused_at AS "refusedAt"
     FROM app.integration_secret WHERE org_id = $1 AND id = $2 FOR UPDATE`,
    [orgId, id],
  );
  const row = rows[0];
  if (row === undefined) return { kind: 'replaced' };
  if (row.refusedAt !== null) return { kind: 'refused' };
  if (row.renewingUntil !== null && row.renewingUntil > now) return { kind: 'busy' };
  if (row.failures > 0 && row.renewAt !== null && row.renewAt > now)
    return { kind: 'later', at: row.renewAt, problem: row.problem };
  await client.query('UPDATE app.integration_secret SET renewing_until = $3 WHERE org_id = $1 AND id = $2', [
    orgId,
    id,
    new Date(now.getTime() + claimMs),
  ]);
  return { kind: 'claimed', failures: row.failures };
}

/**
 * Puts the new pair in the place of the one that it came from. False: that one is not there any more, and nothing has
 * changed. @param attention what the connection needs attention for no more.
 */
export async function replaceTokens(
  client: PoolClient,
  orgId: string,
  connectionId: string,
  { oldId, made, attention }: { readonly oldId: string; readonly made: SealedTokens; readonly attention: string },
): Promise<boolean> {
  await lockConnection(client, orgId, connectionId);
  const { rowCount } = await client.query('DELETE FROM app.integration_secret WHERE org_id = $1 AND id = $2', [
    orgId,
    oldId,
  ]);
  if (rowCount === 0) return false;
  await insertTokens(client, orgId, connectionId, made);
  // Another's renewal was refused, since this one had come first.
  await client.query(
    `UPDATE app.integration_connection SET state = CASE WHEN verified_at IS NULL THEN 'unverified' ELSE 'active' END, state_reason = NULL, updated_at = now()
     WHERE org_id = $1 AND id = $2 AND state = 'needs-attention' AND state_reason = $3`,
    [orgId, connectionId, attention],
  );
  return true;
}

export async function insertTokens(
  client: PoolClient,
  orgId: string,
  connectionId: string,
  made: SealedTokens,
): Promise<void> {
  await client.query(
    `INSERT INTO app.integration_secret (org_id, id, connection_id, kind, sealed, key_version, expires_at, renew_at, scopes) VALUES ($1, $2, $3, 'oauth-tokens', $4, $5, $6, $7, $8)`,
    [orgId, made.id, connectionId, made.bytes, made.keyVersion, made.expiresAt, made.renewAt, made.scopes],
  );
}

/** After a failure that says nothing about the tokens: they stay, and may be renewed from `at` on. */
export async function postponeRenewal(
  client: PoolClient,
  orgId: string,
  { id, at, problem }: { readonly id: string; readonly at: Date; readonly problem: string },
): Promise<void> {
  await client.query(
    `UPDATE app.integration_secret SET renewing_until = NULL, renew_at = $3, renew_failures = renew_failures + 1, renew_problem = $4
     WHERE org_id = $1 AND id = $2 AND refused_at IS NULL`,
    [orgId, id, at, problem],
  );
}

export interface RefusedRenewal {
  readonly connectionId: string;
  readonly id: string;
  readonly now: Date;
  readonly why: string;
}

/** Once and for all. @returns whether the connection needs attention only now. */
export async function refuseRenewal(
  client: PoolClient,
  orgId: string,
  { connectionId, id, now, why }: RefusedRenewal,
): Promise<boolean> {
  await lockConnection(client, orgId, connectionId);
  const { rowCount } = await client.query(
    `UPDATE app.integration_secret SET renewing_until = NULL, renew_at = NULL, refused_at = $3, renew_problem = $4 WHERE org_id = $1 AND id = $2 AND refused_at IS NULL`,
    [orgId, id, now, why],
  );
  if (rowCount === 0) return false;
  const changed = await client.query(
    `UPDATE app.integration_connection SET state = 'needs-attention', state_reason = $3, updated_at = now() WHERE org_id = $1 AND id = $2 AND state IN ('unverified', 'active')`,
    [orgId, connectionId, why],
  );
  return changed.rowCount === 1;
}

/** Whoever changes a connection and its secrets takes the connection first. */
async function lockConnection(client: PoolClient, orgId: string, id: string): Promise<void> {
  await client.query('SELECT 1 FROM app.integration_connection WHERE org_id = $1 AND id = $2 FOR NO KEY UPDATE', [
    orgId,
    id,
  ]);
}

/**
 * Has the worker give tokens back that have just been obtained and belong nowhere; `settings` and `host` as those of
 * the connection.
 */
export async function insertRevocation(
  client: PoolClient,
  orgId: string,
  connection: { readonly id: string; readonly provider: string; readonly host: string; readonly settings: unknown },
  made: Pick<SealedTokens, 'id' | 'bytes' | 'keyVersion'>,
): Promise<void> {
  await client.query(
    `INSERT INTO app.credential_revocation (org_id, id, connection_id, kind, sealed, key_version, provider, host, settings) VALUES ($1, $2, $3, 'oauth-tokens', $4, $5, $6, $7, $8)`,
    [
      orgId,
      made.id,
      connection.id,
      made.bytes,
      made.keyVersion,
      connection.provider,
      connection.host,
      JSON.stringify(connection.settings),
    ],
  );
  await wantRevocation(client, orgId, made.id);
}

export interface RevokedTokens {
  readonly connectionId: string;
  readonly kinds: readonly string[];
  readonly ids?: readonly string[] | undefined;
}

/**
 * Moves what a connection has of these kinds to what is to be given back. @param ids of the secrets; not given: all.
 * @returns how many.
 */
export async function revokeTokens(
  client: PoolClient,
  orgId: string,
  { connectionId, kinds, ids }: RevokedTokens,
): Promise<number> {
  const { rows } = await client.query<{ id: string }>(
    `WITH gone AS (DELETE FROM app.integration_secret WHERE org_id = $1 AND connection_id = $2 AND kind = ANY ($3) AND ($4::text[] IS NULL OR id = ANY ($4)) RETURNING *)
     INSERT INTO app.credential_revocation (org_id, id, connection_id, kind, sealed, key_version, provider, host, settings)
     SELECT g.org_id, g.id, g.connection_id, g.kind, g.sealed, g.key_version, c.provider, c.host, c.settings
     FROM gone g JOIN app.integration_connection c ON c.id = g.connection_id RETURNING id`,
    [orgId, connectionId, kinds, ids ?? null],
  );
  for (const { id } of rows) await wantRevocation(client, orgId, id);
  return rows.length;
}

async function wantRevocation(client: PoolClient, orgId: string, id: string): Promise<void> {
  // The worker's sweep queues it: no caller waits.
  await client.query(
    `INSERT INTO app.outbox (id, org_id, queue, key, payload, enqueued_at) VALUES ($1, $2, 'credential-revocation', $3, $4::jsonb, clock_timestamp() - interval '1 hour')
     ON CONFLICT (queue, key) DO NOTHING`,
    [randomUUID(), orgId, id, JSON.stringify({ orgId, revocationId: id })],
  );
}
