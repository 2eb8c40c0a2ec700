import type { PoolClient } from '@slipway/db/sql';
import type { Account } from '../linking/account-linking.js';
import type { Installation } from './app-access.js';

/** An app of a connection as it is stored. */
export interface StoredApp {
  readonly connectionId: string;
  readonly provider: string;
  readonly host: string;
  readonly settings: { readonly baseUrl?: string | null };
  /** It is the operator's, whose secrets are configuration. */
  readonly platform: boolean;
  readonly appId: string;
  readonly slug: string;
  readonly state: string;
  readonly installationId: string | null;
  readonly permissions: Readonly<Record<string, string>> | null;
  /** Sealed; `null`: of the platform's. */
  readonly secret: { readonly id: string; readonly bytes: Buffer; readonly keyVersion: number } | null;
}

/**
 * Kind of `app.integration_secret` that holds an app's own secrets. They are no credential of calls: those need an
 * installation.
 */
export const APP_SECRET = 'app';
/** Kind of the credential of a verified installation. */
export const INSTALLATION_SECRET = 'app-installation';

/** `null`: the connection is not by an app. */
export async function findApp(client: PoolClient, orgId: string, connectionId: string): Promise<StoredApp | null> {
  const { rows } = await client.query<
    Omit<StoredApp, 'secret'> & { secretId: string | null; sealed: Buffer; keyVersion: number }
  >({
    name: 'find-integration-app',
    text: `SELECT a.connection_id AS "connectionId", c.provider, c.host, c.settings, c.platform, a.app_id AS "appId", a.slug, a.state, a.installation_id AS "installationId",
             a.permissions, k.id AS "secretId", k.sealed, k.key_version AS "keyVersion"
           FROM app.integration_app a JOIN app.integration_connection c ON c.id = a.connection_id AND c.org_id = a.org_id
           LEFT JOIN app.integration_secret k ON k.org_id = a.org_id AND k.connection_id = a.connection_id AND k.kind = '${APP_SECRET}'
           WHERE a.org_id = $1 AND a.connection_id = $2 ORDER BY k.created_at DESC LIMIT 1`,
    values: [orgId, connectionId],
  });
  const row = rows[0];
  if (row === undefined) return null;
  const { secretId, sealed, keyVersion, ...app } = row;
  return { ...app, secret: secretId === null ? null : { id: secretId, bytes: sealed, keyVersion } };
}

/** Who the app of a connection acts as; `null`: it is by none, or the provider has not said it yet. */
export async function findBot(client: PoolClient, orgId: string, connectionId: string): Promise<Account | null> {
  const { rows } = await client.query<{ slug: string; bot_id: string | null }>(
    'SELECT slug, bot_id FROM app.integration_app WHERE org_id = $1 AND connection_id = $2',
    [orgId, connectionId],
  );
  const row = rows[0];
  return row === undefined || row.bot_id === null ? null : { id: row.bot_id, login: `${row.slug}[bot]` };
}

/** What the provider says of an installation. */
export interface InstallationFacts {
  readonly installation: Installation;
  /** `null`: not known, as while it is suspended. */
  readonly repositories: number | null;
  readonly bot: Account | null;
}

const SUSPENDED = 'The installation is suspended at the provider. Whoever administers the account can resume it there.';
const REMOVED = 'The app was uninstalled at the provider. Install it again, or delete the connection.';

/**
 * Stores the provider's answer about a verified installation, and our own account there: our own acts start nothing.
 */
export async function writeFacts(
  client: PoolClient,
  orgId: string,
  { connectionId, facts, at }: { readonly connectionId: string; readonly facts: InstallationFacts; readonly at: Date },
): Promise<void> {
  const { installation, repositories, bot } = facts;
  const { account } = installation;
  await client.query(
    `UPDATE app.integration_app SET state = $3, installation_id = $4, account_id = $5, account_login = $6, account_kind = $7, selection = $8,
       repositories = coalesce($9, repositories), permissions = $10::jsonb, checked_at = $11, bot_id = coalesce($12, bot_id) WHERE org_id = $1 AND connection_id = $2`,
    [
      orgId,
      connectionId,
      installation.suspended ? 'suspended' : 'installed',
      installation.id,
      account.id,
      account.login,
      account.kind,
      installation.repositories,
      repositories,
      JSON.stringify(installation.permissions),
      at,
      bot?.id ?? null,
    ],
  );
  const ids = [installation.appId, ...(bot === null ? [] : [bot.id])];
  await client.query(
    `UPDATE app.integration_connection c SET own = jsonb_set(own, '{ids}', (
       SELECT jsonb_agg(DISTINCT each) FROM (SELECT jsonb_array_elements_text(coalesce(c.own -> 'ids', '[]')) UNION SELECT unnest($3::text[])) AS ids (each)))
     WHERE org_id = $1 AND id = $2 AND NOT (coalesce(own -> 'ids', '[]') @> to_jsonb($3::text[]))`,
    [orgId, connectionId, ids],
  );
  await (installation.suspended
    ? attend(client, orgId, connectionId, SUSPENDED)
    : restore(client, orgId, connectionId));
}

export async function noteSuspended(client: PoolClient, orgId: string, connectionId: string): Promise<void> {
  const { rowCount } = await client.query(
    `UPDATE app.integration_app SET state = 'suspended' WHERE org_id = $1 AND connection_id = $2 AND state = 'installed'`,
    [orgId, connectionId],
  );
  if (rowCount === 1) await attend(client, orgId, connectionId, SUSPENDED);
}

/** Of one that is suspended; one that was given up or removed stays so, whatever its provider says late. */
export async function noteResumed(client: PoolClient, orgId: string, connectionId: string): Promise<void> {
  const { rowCount } = await client.query(
    `UPDATE app.integration_app SET state = 'installed' WHERE org_id = $1 AND connection_id = $2 AND state = 'suspended'`,
    [orgId, connectionId],
  );
  if (rowCount === 1) await restore(client, orgId, connectionId);
}

/** It ends with its credential and its claim: another organization may have the account from then on. */
export async function noteRemoved(client: PoolClient, orgId: string, connectionId: string): Promise<void> {
  await client.query(`DELETE FROM app.integration_secret WHERE org_id = $1 AND connection_id = $2 AND kind = $3`, [
    orgId,
    connectionId,
    INSTALLATION_SECRET,
  ]);
  await client.query('DELETE FROM app.integration_account_claim WHERE org_id = $1 AND connection_id = $2', [
    orgId,
    connectionId,
  ]);
  await client.query(
    `UPDATE app.integration_app SET state = 'removed', installation_id = NULL, selection = NULL, repositories = NULL, permissions = NULL
     WHERE org_id = $1 AND connection_id = $2`,
    [orgId, connectionId],
  );
  await client.query('UPDATE app.integration_connection SET account = NULL WHERE org_id = $1 AND id = $2', [
    orgId,
    connectionId,
  ]);
  await attend(client, orgId, connectionId, REMOVED);
}

const RELEASED = 'The account was given up. Confirm the installation to claim it again, or delete the connection.';

/**
 * An admin releases the account: it stays installed at the provider, and a verified administrator may claim it.
 * @returns false when there is none to release.
 */
export async function noteReleased(client: PoolClient, orgId: string, connectionId: string): Promise<boolean> {
  const { rowCount } = await client.query(
    'DELETE FROM app.integration_account_claim WHERE org_id = $1 AND connection_id = $2',
    [orgId, connectionId],
  );
  if (rowCount === 0) return false;
  await client.query(`DELETE FROM app.integration_secret WHERE org_id = $1 AND connection_id = $2 AND kind = $3`, [
    orgId,
    connectionId,
    INSTALLATION_SECRET,
  ]);
  await client.query(
    `UPDATE app.integration_app SET state = 'approved', selection = NULL, repositories = NULL, permissions = NULL WHERE org_id = $1 AND connection_id = $2`,
    [orgId, connectionId],
  );
  await client.query('UPDATE app.integration_connection SET account = NULL WHERE org_id = $1 AND id = $2', [
    orgId,
    connectionId,
  ]);
  await attend(client, orgId, connectionId, RELEASED);
  return true;
}

/**
 * Installed by an owner's approval, which does not yet prove that the requester here administers the account. No-op
 * once that is verified.
 */
export async function noteApproved(
  client: PoolClient,
  orgId: string,
  connectionId: string,
  installationId: string,
): Promise<void> {
  await client.query(
    `UPDATE app.integration_app SET state = 'approved', installation_id = $3 WHERE org_id = $1 AND connection_id = $2 AND state IN ('registered', 'requested', 'removed')`,
    [orgId, connectionId, installationId],
  );
}

async function attend(client: PoolClient, orgId: string, connectionId: string, why: string): Promise<void> {
  await client.query(
    `UPDATE app.integration_connection SET state = 'needs-attention', state_reason = $3, updated_at = now() WHERE org_id = $1 AND id = $2 AND state <> 'disabled'`,
    [orgId, connectionId, why],
  );
}

/** Whatever was wrong: the provider has just said that the installation is well. */
async function restore(client: PoolClient, orgId: string, connectionId: string): Promise<void> {
  await client.query(
    `UPDATE app.integration_connection SET state = CASE WHEN verified_at IS NULL THEN 'unverified' ELSE 'active' END, state_reason = NULL, updated_at = now()
     WHERE org_id = $1 AND id = $2 AND state = 'needs-attention'`,
    [orgId, connectionId],
  );
}
