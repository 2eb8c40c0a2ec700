import { createHash } from 'node:crypto';
import type { SecretKind, SecretScope } from '@slipway/contracts/secrets';
import type { Columns, PoolClient } from '@slipway/db/sql';
import { credentialsOf } from '@slipway/domain';
import type { BrokeredCredential } from './brokered-credentials.js';

export type SealedSecret = Columns<
  'app.secret',
  'id' | 'name' | 'kind' | 'scope' | 'host' | 'username' | 'description' | 'sealed',
  { kind: SecretKind; scope: SecretScope }
> & {
  readonly scopeValue: string;
  readonly keyVersion: number;
};

export interface Receiver {
  readonly orgId: string;
  readonly conversationId: string;
  /** Who started the conversation. */
  readonly userId: string;
  readonly environment: string | null;
  /** As `repositoryKey` writes it. */
  readonly repository: string | null;
}

/**
 * Every secret that the conversation may have, of all scopes; with `memberSecrets` off none that a member has brought.
 */
export async function secretsFor(
  client: PoolClient,
  { orgId, conversationId, userId, environment, repository }: Receiver,
): Promise<SealedSecret[]> {
  const { rows } = await client.query<SealedSecret>({
    name: 'secrets-for-conversation',
    text: `SELECT s.id, s.name, s.kind, s.scope, s.scope_value AS "scopeValue", s.host, s.username, s.description, s.sealed, s.key_version AS "keyVersion"
           FROM app.secret s LEFT JOIN app.org o ON o.id = s.org_id
           WHERE s.org_id = $1
             AND ((s.scope = 'org') OR (s.scope = 'environment' AND s.scope_value = $2) OR (s.scope = 'repository' AND s.scope_value = $3)
               OR (coalesce(o.settings -> 'memberSecrets' <> 'false'::jsonb, true)
                   AND ((s.scope = 'person' AND s.scope_value = $4) OR (s.scope = 'conversation' AND s.scope_value = $5))))
           ORDER BY s.name, s.id`,
    values: [orgId, environment, repository, userId, conversationId],
  });
  return rows;
}

/** Whether sandboxes of the organization are given no values. What a newer version has set counts as that. */
export async function isBrokeredOnly(client: PoolClient, orgId: string): Promise<boolean> {
  const { rows } = await client.query<{ withheld: boolean }>(
    "SELECT coalesce(settings ->> 'secretsInSandbox', 'allowed') <> 'allowed' AS withheld FROM app.org WHERE id = $1",
    [orgId],
  );
  return rows[0]?.withheld ?? false;
}

/** Those that the conversation may use, the narrowest first; a resting one too, which an admin may use again. */
export async function brokeredFor(
  client: PoolClient,
  { orgId, environment, repository }: Pick<Receiver, 'orgId' | 'environment' | 'repository'>,
): Promise<BrokeredCredential[]> {
  const { rows } = await client.query<BrokeredCredential>({
    name: 'credentials-for-conversation',
    text: `SELECT id, name, description, scope, scope_value AS "scopeValue", use, reference_key AS "referenceKey"
           FROM app.credential WHERE org_id = $1`,
    values: [orgId],
  });
  return credentialsOf(rows, { environment, repository });
}

/** Notes that they were given to a start of the conversation: once an epoch, however often the step is repeated. */
export async function noteUse(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  { epoch, secrets }: { readonly epoch: number; readonly secrets: readonly SealedSecret[] },
): Promise<void> {
  await client.query('UPDATE app.secret SET last_used_at = now() WHERE org_id = $1 AND id = ANY ($2)', [
    orgId,
    secrets.map(({ id }) => id),
  ]);
  await client.query(
    `INSERT INTO app.audit_entry (id, org_id, actor_kind, actor_id, actor_label, action, target, detail)
     SELECT $1::uuid, $2, 'system', 'worker', 'Slipway', 'secret.use', $3, $4::jsonb WHERE NOT EXISTS (SELECT 1 FROM app.audit_entry WHERE id = $1::uuid)`,
    [
      stableId(`secret.use ${conversationId} ${epoch}`),
      orgId,
      conversationId,
      JSON.stringify({ names: secrets.map(({ name }) => name), secrets: secrets.map(({ id }) => id), epoch }),
    ],
  );
}

/** The same for the same words: a UUID of version 8. */
export function stableId(words: string): string {
  const hex = createHash('sha256').update(words).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
