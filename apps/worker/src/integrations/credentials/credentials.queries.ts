import type { Columns, PoolClient, SqlPool } from '@slipway/db/sql';
import type { AppHookState, TokenFacts } from '@slipway/integrations';
import { revokeTokens, type StoredCredential } from '@slipway/integrations/credentials';
import type { StoredConnection } from '@slipway/integrations/deliveries';
import { system } from '../../conversations/conversation.queries.js';

/** A connection whose credential is to be seen to. */
export interface DueCredential {
  readonly orgId: string;
  readonly connection: StoredConnection;
  readonly secret: StoredCredential;
}

const CONNECTION = `jsonb_build_object('id', c.id, 'provider', c.provider, 'host', c.host, 'account', c.account, 'state', c.state, 'own', c.own, 'settings', c.settings)`;
const DUE = `c.org_id AS "orgId", ${CONNECTION} AS connection, k.id, k.kind, k.sealed AS bytes, k.key_version AS "keyVersion"`;

interface DueRow extends StoredCredential {
  readonly orgId: string;
  readonly connection: StoredConnection;
}
const toDue = ({ orgId, connection, ...secret }: DueRow): DueCredential => ({ orgId, connection, secret });

/** Tokens due for renewal that no other worker renews. */
export function dueForRenewal(pool: SqlPool, now: Date, limit: number): Promise<DueCredential[]> {
  return system(pool, 'renewal of authorizations', async (client) => {
    const { rows } = await client.query<DueRow>(
      `SELECT ${DUE} FROM app.integration_secret k JOIN app.integration_connection c ON c.id = k.connection_id
       WHERE k.kind = 'oauth-tokens' AND k.renew_at <= $1 AND (k.renewing_until IS NULL OR k.renewing_until <= $1) ORDER BY k.renew_at LIMIT $2`,
      [now, limit],
    );
    return rows.map(toDue);
  });
}

/** Entered access tokens not checked with their provider since. @param providers those that report on tokens. */
export function dueForInspection(
  pool: SqlPool,
  providers: readonly string[],
  since: Date,
  limit: number,
): Promise<DueCredential[]> {
  return system(pool, 'inspection of access tokens', async (client) => {
    const { rows } = await client.query<DueRow>(
      `SELECT ${DUE} FROM app.integration_secret k JOIN app.integration_connection c ON c.id = k.connection_id
       WHERE k.kind = 'token' AND (k.checked_at IS NULL OR k.checked_at <= $2) AND c.provider = ANY ($1) AND c.state <> 'disabled' ORDER BY k.checked_at NULLS FIRST LIMIT $3`,
      [providers, since, limit],
    );
    return rows.map(toDue);
  });
}

/** @param facts `null`: the provider did not say. */
export async function noteInspection(
  client: PoolClient,
  orgId: string,
  id: string,
  { at, facts }: { readonly at: Date; readonly facts: TokenFacts | null },
): Promise<void> {
  await client.query(
    `UPDATE app.integration_secret SET checked_at = $3, expires_at = CASE WHEN $4 THEN $5 ELSE expires_at END, scopes = CASE WHEN $4 THEN $6 ELSE scopes END WHERE org_id = $1 AND id = $2`,
    [orgId, id, at, facts !== null, facts?.expiresAt ?? null, facts?.scopes ?? null],
  );
}

/** Queues the revocation of tokens whose authorization was not confirmed in time. @returns how many. */
export async function endUnconfirmed(pool: SqlPool, now: Date, limit: number): Promise<number> {
  return system(pool, 'authorizations that were not confirmed', async (client) => {
    const { rows } = await client.query<{ id: string; orgId: string; connectionId: string }>(
      `DELETE FROM app.authorization_request WHERE id IN (SELECT id FROM app.authorization_request WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
       RETURNING id, org_id AS "orgId", connection_id AS "connectionId"`,
      [now, limit],
    );
    for (const { id, orgId, connectionId } of rows)
      await revokeTokens(client, orgId, { connectionId, kinds: ['oauth-pending'], ids: [id] });
    return rows.length;
  });
}

export interface DueHooks {
  readonly orgId: string;
  readonly connection: StoredConnection;
  readonly known: AppHookState | null;
}

/**
 * Connections by OAuth whose app hooks are due for a check. @param of providers that have some, with the scheme that
 * these are signed by.
 */
export function dueForHooks(
  pool: SqlPool,
  of: ReadonlyMap<string, string>,
  since: Date,
  limit: number,
): Promise<DueHooks[]> {
  return system(pool, 'webhooks of apps', async (client) => {
    const { rows } = await client.query<DueHooks>(
      `SELECT c.org_id AS "orgId", ${CONNECTION} AS connection, c.app_hook AS known FROM app.integration_connection c
       WHERE (c.provider, c.signature) IN (SELECT * FROM unnest($1::text[], $4::text[])) AND c.state <> 'disabled' AND (c.app_hook_at IS NULL OR c.app_hook_at <= $2)
         AND EXISTS (SELECT 1 FROM app.integration_secret k WHERE k.connection_id = c.id AND k.kind = 'oauth-tokens' AND k.refused_at IS NULL)
       ORDER BY c.app_hook_at NULLS FIRST LIMIT $3`,
      [[...of.keys()], since, limit, [...of.values()]],
    );
    return rows;
  });
}

export async function noteHooks(
  client: PoolClient,
  orgId: string,
  connectionId: string,
  { at, state }: { readonly at: Date; readonly state: AppHookState },
): Promise<void> {
  await client.query(
    'UPDATE app.integration_connection SET app_hook = $3, app_hook_at = $4 WHERE org_id = $1 AND id = $2',
    [orgId, connectionId, JSON.stringify(state), at],
  );
}

export type Revocation = Columns<
  'app.credential_revocation',
  'id' | 'kind' | 'provider' | 'host' | 'settings' | 'attempts',
  { settings: StoredConnection['settings'] }
> & {
  readonly connectionId: string;
  readonly bytes: Buffer;
  readonly keyVersion: number;
};

export async function findRevocation(client: PoolClient, orgId: string, id: string): Promise<Revocation | null> {
  const { rows } = await client.query<Revocation>(
    `SELECT id, connection_id AS "connectionId", kind, sealed AS bytes, key_version AS "keyVersion", provider, host, settings, attempts
     FROM app.credential_revocation WHERE org_id = $1 AND id = $2`,
    [orgId, id],
  );
  return rows[0] ?? null;
}

export async function countAttempt(client: PoolClient, orgId: string, id: string): Promise<void> {
  await client.query('UPDATE app.credential_revocation SET attempts = attempts + 1 WHERE org_id = $1 AND id = $2', [
    orgId,
    id,
  ]);
}

export async function deleteRevocation(client: PoolClient, orgId: string, id: string): Promise<void> {
  await client.query('DELETE FROM app.credential_revocation WHERE org_id = $1 AND id = $2', [orgId, id]);
}
