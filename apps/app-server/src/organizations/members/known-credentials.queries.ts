import { type KnownCredential, MAX_KNOWN_CREDENTIALS } from '@slipway/contracts/organizations';
import type { Columns, PoolClient } from '@slipway/db/sql';

interface KnownRow {
  readonly kind: KnownCredential['kind'];
  readonly id: string;
  readonly name: string;
  readonly how: KnownCredential['how'];
  readonly last_used_at: Date | null;
  readonly total: number;
}

/**
 * Credentials of the organization whose values a user may still know after they have left: keys of service accounts
 * that they made, secrets that they set or that sandboxes of their conversations received, and brokered credentials and
 * model keys that they entered. Own keys are not among them: those end with the membership. At most
 * `MAX_KNOWN_CREDENTIALS`, with the number of all.
 */
export async function knownCredentials(
  client: PoolClient,
  orgId: string,
  userId: string,
): Promise<{ known: KnownCredential[]; total: number }> {
  const { rows } = await client.query<KnownRow>(
    `WITH received AS (
       SELECT DISTINCT s.value AS id FROM app.audit_entry e
       JOIN app.conversation c ON c.org_id = e.org_id AND c.id::text = e.target AND c.created_by = $2
       CROSS JOIN LATERAL jsonb_array_elements_text(e.detail -> 'secrets') s
       WHERE e.org_id = $1 AND e.action = 'secret.use' AND jsonb_typeof(e.detail -> 'secrets') = 'array'),
     known AS (
       SELECT 1 AS rank, 'service-account-key' AS kind, k.id, a.name || ' · ' || k.name AS name, 'made' AS how, k.last_used_at
       FROM app.api_key k JOIN app.service_account a ON a.org_id = k.org_id AND a.id = k.owner_id
       WHERE k.org_id = $1 AND k.owner_kind = 'service-account' AND k.created_by = $2 AND k.revoked_at IS NULL AND k.expires_at > now()
       UNION ALL
       SELECT 2, 'secret', s.id, s.name, CASE WHEN $2 IN (s.created_by, s.updated_by) THEN 'set' ELSE 'received' END, s.last_used_at
       FROM app.secret s WHERE s.org_id = $1 AND NOT (s.scope = 'person' AND s.scope_value = $2)
         AND ($2 IN (s.created_by, s.updated_by) OR s.id IN (SELECT id FROM received))
       UNION ALL
       SELECT 3, 'credential', k.id, k.name, 'set', k.last_used_at FROM app.credential k
       WHERE k.org_id = $1 AND $2 IN (k.created_by, k.updated_by)
       UNION ALL
       SELECT 4, 'model-key', p.id, p.name, 'set', NULL FROM app.llm_profile p
       WHERE p.org_id = $1 AND p.created_by = $2 AND p.sealed_api_key IS NOT NULL)
     SELECT kind, id, name, how, last_used_at, count(*) OVER ()::int AS total FROM known ORDER BY rank, name, id LIMIT $3`,
    [orgId, userId, MAX_KNOWN_CREDENTIALS],
  );
  const known = rows.map(({ kind, id, name, how, last_used_at }) => ({
    kind,
    id,
    name,
    how,
    lastUsedAt: last_used_at?.toISOString() ?? null,
  }));
  return { known, total: rows[0]?.total ?? 0 };
}

/** Ends the keys of service accounts that the user made. @returns their ids. */
export async function revokeKnownKeys(client: PoolClient, orgId: string, userId: string): Promise<string[]> {
  const { rows } = await client.query<Columns<'app.api_key', 'id'>>(
    `UPDATE app.api_key SET revoked_at = now()
     WHERE org_id = $1 AND owner_kind = 'service-account' AND created_by = $2 AND revoked_at IS NULL AND expires_at > now() RETURNING id`,
    [orgId, userId],
  );
  return rows.map(({ id }) => id);
}
