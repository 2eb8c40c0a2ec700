import type { CredentialUse, RestingReason } from '@slipway/contracts/credentials';
import type { PoolClient } from '@slipway/db/sql';
import type { CredentialScoped } from '@slipway/domain';
import { hostKey } from './credentials.queries.js';

export interface SealedCredential extends CredentialScoped {
  readonly use: CredentialUse;
  readonly state: 'active' | 'resting';
  /** Until it ends; `null`: it does not. Negative: it has. Milliseconds. */
  readonly endsInMs: number | null;
  readonly sealed: Buffer;
  readonly keyVersion: number;
  readonly referenceKey: Buffer;
}

export interface AskedPlace {
  readonly org: string;
  readonly conversation: string;
  readonly host: string;
  readonly port: number;
}

/** Who works, and for what. */
export interface Conversation {
  readonly repository: string | null;
  readonly environment: string | null;
  readonly user: string;
}

/**
 * What the organization keeps for a host, of every scope, and for what its conversation works. `null`: there is no such
 * conversation of this organization, or it is deleted.
 */
export async function credentialsAt(
  client: PoolClient,
  { org, conversation, host, port }: AskedPlace,
): Promise<(Conversation & { readonly credentials: readonly SealedCredential[] }) | null> {
  const { rows: found } = await client.query<Conversation>({
    name: 'credential-conversation',
    text: 'SELECT repository, environment, created_by AS "user" FROM app.conversation WHERE org_id = $1 AND id = $2::uuid AND deleted_at IS NULL',
    values: [org, conversation],
  });
  const [row] = found;
  if (row === undefined) return null;
  const { rows: credentials } = await client.query<SealedCredential>({
    name: 'credentials-at',
    text: `SELECT id, name, scope, scope_value AS "scopeValue", use, state,
             (extract(epoch FROM expires_at - now()) * 1000)::float8 AS "endsInMs", sealed, key_version AS "keyVersion", reference_key AS "referenceKey"
           FROM app.credential WHERE org_id = $1 AND hosts @> ARRAY[$2]`,
    values: [org, hostKey(host, port)],
  });
  return { ...row, credentials };
}

export interface Use {
  readonly claim: string;
  readonly conversation: string;
  readonly host: string;
  /** Of the audit entry, by the credential's id: the same for the same claim. */
  readonly entries: ReadonlyMap<string, string>;
}

/**
 * Notes that a sandbox is given them: in the audit once a claim and credential, and on the credential itself.
 * @returns ids of those that are still there and active.
 */
export async function noteUses(
  client: PoolClient,
  orgId: string,
  { claim, conversation, host, entries }: Use,
): Promise<Set<string>> {
  const { rows } = await client.query<{ id: string; name: string }>(
    "SELECT id, name FROM app.credential WHERE org_id = $1 AND id = ANY ($2) AND state = 'active' AND (expires_at IS NULL OR expires_at > now()) ORDER BY id",
    [orgId, [...entries.keys()]],
  );
  const ids = rows.map(({ id }) => id);
  // Half a minute is near enough, and keeps a busy sandbox from writing the row again and again.
  await client.query(
    `UPDATE app.credential SET last_used_at = now()
     WHERE org_id = $1 AND id = ANY ($2) AND (last_used_at IS NULL OR last_used_at < now() - interval '30 seconds')`,
    [orgId, ids],
  );
  for (const { id, name } of rows)
    await client.query({
      name: 'credential-use',
      text: `INSERT INTO app.audit_entry (id, org_id, actor_kind, actor_id, actor_label, action, target, detail)
             VALUES ($1::uuid, $2, 'system', 'credential-broker', 'Slipway', 'credential.use', $3, $4::jsonb) ON CONFLICT (id) DO NOTHING`,
      values: [entries.get(id), orgId, id, JSON.stringify({ name, claim, conversation, host })],
    });
  return new Set(ids);
}

/** @returns its name; `null` when it is not there, or is resting already. */
export async function restCredential(
  client: PoolClient,
  orgId: string,
  id: string,
  reason: RestingReason,
): Promise<string | null> {
  const { rows } = await client.query<{ name: string }>(
    `UPDATE app.credential SET state = 'resting', resting_reason = $3
     WHERE org_id = $1 AND id = $2 AND state = 'active' RETURNING name`,
    [orgId, id, reason],
  );
  return rows[0]?.name ?? null;
}
