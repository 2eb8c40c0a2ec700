import type { AppState, ConnectionSettings, ConnectionState, OwnIdentity } from '@slipway/contracts/integrations';
import { CREDENTIAL_KINDS, type CredentialKind } from '@slipway/db/conversations';
import { type Columns, type PoolClient, transactionTime } from '@slipway/db/sql';
import { type Prisma, userStore } from '@slipway/db/store';

/** As JSON: moments are texts. */
export interface ConnectionAppRow {
  readonly app_id: string;
  readonly slug: string;
  readonly url: string | null;
  readonly state: AppState;
  readonly account_login: string | null;
  readonly account_kind: 'organization' | 'user' | null;
  readonly selection: 'all' | 'selected' | null;
  readonly repositories: number | null;
  readonly permissions: Readonly<Record<string, string>> | null;
  readonly checked_at: string | null;
  readonly recovered_at: string | null;
}

/** Of a credential, without its value. Moments as Postgres' JSON has them. */
export interface StoredCredentialState {
  readonly kind: CredentialKind;
  readonly setAt: string;
  readonly expiresAt: string | null;
  /** `null`: it is not renewed. */
  readonly renewAt: string | null;
  readonly scopes: readonly string[] | null;
  readonly problem: string | null;
}

export type ConnectionRow = Columns<
  'app.integration_connection',
  | 'id'
  | 'provider'
  | 'kind'
  | 'name'
  | 'host'
  | 'account'
  | 'platform'
  | 'signature'
  | 'own'
  | 'settings'
  | 'state'
  | 'state_reason'
  | 'app_hook'
  | 'app_hook_at'
  | 'verified_at'
  | 'last_delivery_at'
  | 'created_by'
  | 'created_by_label'
  | 'created_at'
  | 'updated_at',
  {
    own: OwnIdentity;
    settings: ConnectionSettings;
    state: ConnectionState;
    app_hook: { readonly expiresAt: string | null; readonly problem: string | null } | null;
  }
> & {
  readonly old_secret_until: Date | null;
  readonly token_set_at: Date | null;
  readonly oauth_client_set_at: Date | null;
  /** `null`: it is by no app. */
  readonly app: ConnectionAppRow | null;
  /** What calls are made with; `null`: there is nothing. */
  readonly credential: StoredCredentialState | null;
};

const COLUMNS = `c.id, c.provider, c.kind, c.name, c.host, c.account, c.platform, c.signature, c.own, c.settings, c.state, c.state_reason, c.verified_at, c.last_delivery_at,
  c.created_by, c.created_by_label, c.created_at, c.updated_at,
  (SELECT max(k.valid_until) FROM app.integration_secret k WHERE k.connection_id = c.id AND k.kind = 'webhook' AND k.valid_until > now()) AS old_secret_until,
  (SELECT max(k.created_at) FROM app.integration_secret k WHERE k.connection_id = c.id AND k.kind = 'token') AS token_set_at,
  (SELECT max(k.created_at) FROM app.integration_secret k WHERE k.connection_id = c.id AND k.kind = 'oauth-client') AS oauth_client_set_at, c.app_hook, c.app_hook_at,
  (SELECT jsonb_build_object('kind', k.kind, 'setAt', k.created_at, 'expiresAt', k.expires_at, 'renewAt', k.renew_at, 'scopes', k.scopes, 'problem', k.renew_problem)
   FROM app.integration_secret k WHERE k.connection_id = c.id AND k.kind = ANY ('{${CREDENTIAL_KINDS.join(',')}}') ORDER BY k.created_at DESC LIMIT 1) AS credential,
  (SELECT to_jsonb(a) FROM app.integration_app a WHERE a.org_id = c.org_id AND a.connection_id = c.id) AS app`;

export async function listConnections(client: PoolClient, orgId: string, limit: number): Promise<ConnectionRow[]> {
  const { rows } = await client.query<ConnectionRow>(
    `SELECT ${COLUMNS} FROM app.integration_connection c WHERE c.org_id = $1 ORDER BY c.name, c.id LIMIT $2`,
    [orgId, limit],
  );
  return rows;
}

export async function findConnection(client: PoolClient, orgId: string, id: string): Promise<ConnectionRow | null> {
  const { rows } = await client.query<ConnectionRow>(
    `SELECT ${COLUMNS} FROM app.integration_connection c WHERE c.org_id = $1 AND c.id = $2`,
    [orgId, id],
  );
  return rows[0] ?? null;
}

/** The same, locked until the transaction ends. */
export async function lockConnection(client: PoolClient, orgId: string, id: string): Promise<ConnectionRow | null> {
  const { rowCount } = await client.query(
    'SELECT 1 FROM app.integration_connection WHERE org_id = $1 AND id = $2 FOR NO KEY UPDATE',
    [orgId, id],
  );
  return rowCount === 0 ? null : findConnection(client, orgId, id);
}

export function countConnections(client: PoolClient, orgId: string): Promise<number> {
  return userStore(client, (store) => store.integrationConnection.count({ where: { orgId } }));
}

export interface NewConnection {
  readonly id: string;
  readonly provider: string;
  readonly kind: string;
  readonly name: string;
  readonly host: string;
  readonly account: string | null;
  readonly signature: string;
  readonly own: OwnIdentity;
  readonly settings: ConnectionSettings;
  readonly by: { readonly id: string; readonly label: string };
  /** Its deliveries come to the platform’s own app [false]. */
  readonly platform?: boolean;
}

export async function insertConnection(
  client: PoolClient,
  orgId: string,
  { by, own, settings, ...made }: NewConnection,
): Promise<void> {
  const data = { ...made, orgId, own: json(own), settings: json(settings), createdBy: by.id, createdByLabel: by.label };
  await userStore(client, (store) => store.integrationConnection.createMany({ data }));
}

/** Contracts say what is in it; to Prisma it is JSON. */
const json = (value: OwnIdentity | ConnectionSettings): Prisma.InputJsonObject =>
  value as unknown as Prisma.InputJsonObject;

export type ConnectionChange = Pick<ConnectionRow, 'name' | 'account' | 'own' | 'settings' | 'state'>;

export async function updateConnection(
  client: PoolClient,
  orgId: string,
  id: string,
  { own, settings, ...change }: ConnectionChange,
): Promise<void> {
  const updatedAt = await transactionTime(client);
  const reason = change.state === 'needs-attention' ? {} : { stateReason: null };
  const data = { ...change, ...reason, own: json(own), settings: json(settings), updatedAt };
  await userStore(client, (store) => store.integrationConnection.updateMany({ where: { orgId, id }, data }));
}

/** With its secrets, deliveries and threads. */
export async function deleteConnection(client: PoolClient, orgId: string, id: string): Promise<void> {
  await userStore(client, (store) => store.integrationConnection.deleteMany({ where: { orgId, id } }));
}

/** Lets the present webhook secret hold for `hours` more, and no other: two hold at most, beside the one that comes. */
export async function outdateSecrets(
  client: PoolClient,
  orgId: string,
  connectionId: string,
  hours: number,
): Promise<void> {
  await client.query(
    `DELETE FROM app.integration_secret WHERE org_id = $1 AND connection_id = $2 AND kind = 'webhook' AND valid_until IS NOT NULL`,
    [orgId, connectionId],
  );
  await client.query(
    `UPDATE app.integration_secret SET valid_until = now() + $3 * interval '1 hour' WHERE org_id = $1 AND connection_id = $2 AND kind = 'webhook'`,
    [orgId, connectionId, hours],
  );
}

export interface DeletedSecrets {
  readonly kind: 'token' | 'oauth-client' | 'oauth-pending' | 'app' | 'app-installation';
  readonly id?: string | undefined;
}

/** @param id of the one; not given: all of the kind. @returns false when there was none. */
export async function deleteSecrets(
  client: PoolClient,
  orgId: string,
  connectionId: string,
  { kind, id }: DeletedSecrets,
): Promise<boolean> {
  const { rowCount } = await client.query(
    'DELETE FROM app.integration_secret WHERE org_id = $1 AND connection_id = $2 AND kind = $3 AND ($4::text IS NULL OR id = $4)',
    [orgId, connectionId, kind, id ?? null],
  );
  return rowCount !== 0;
}

export interface StoredSecret {
  readonly id: string;
  readonly bytes: Buffer;
  readonly keyVersion: number;
  readonly createdAt: Date;
}

export interface SoughtSecret {
  readonly kind: 'oauth-client' | 'oauth-pending' | 'webhook';
  readonly id?: string | undefined;
}

/** The newest of its kind that has no end. `null`: none was entered. */
export async function findSecret(
  client: PoolClient,
  orgId: string,
  connectionId: string,
  { kind, id }: SoughtSecret,
): Promise<StoredSecret | null> {
  const { rows } = await client.query<StoredSecret>(
    `SELECT id, sealed AS bytes, key_version AS "keyVersion", created_at AS "createdAt" FROM app.integration_secret
     WHERE org_id = $1 AND connection_id = $2 AND kind = $3 AND valid_until IS NULL AND ($4::text IS NULL OR id = $4) ORDER BY created_at DESC LIMIT 1`,
    [orgId, connectionId, kind, id ?? null],
  );
  return rows[0] ?? null;
}

export async function insertSecret(
  client: PoolClient,
  orgId: string,
  secret: {
    readonly id: string;
    readonly connectionId: string;
    readonly kind: string;
    readonly sealed: { readonly bytes: Uint8Array; readonly keyVersion: number };
  },
): Promise<void> {
  await client.query(
    `INSERT INTO app.integration_secret (org_id, id, connection_id, kind, sealed, key_version) VALUES ($1, $2, $3, $4, $5, $6)`,
    [orgId, secret.id, secret.connectionId, secret.kind, secret.sealed.bytes, secret.sealed.keyVersion],
  );
}
