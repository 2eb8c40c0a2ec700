import { type Columns, inOrg, type SqlPool } from '@slipway/db/sql';
import { stableId } from './granted-secrets.queries.js';

export type SealedProfile = Columns<'app.llm_profile', 'id' | 'name' | 'model' | 'temperature'> & {
  readonly baseUrl: string | null;
  readonly maxOutputTokens: number | null;
  readonly sealed: Buffer | null;
  readonly keyVersion: number | null;
};

/** As it is now; `null` when the organization has none of that name. */
export async function profileNamed(pool: SqlPool, orgId: string, name: string): Promise<SealedProfile | null> {
  const { rows } = await inOrg(pool, orgId, (client) =>
    client.query<SealedProfile>(
      `SELECT id, name, model, base_url AS "baseUrl", temperature, max_output_tokens AS "maxOutputTokens", sealed_api_key AS sealed, key_version AS "keyVersion"
       FROM app.llm_profile WHERE org_id = $1 AND name = $2`,
      [orgId, name],
    ),
  );
  return rows[0] ?? null;
}

/** What a profile's key was opened for. */
export interface ProfileUse {
  readonly conversationId: string;
  readonly epoch: number;
  readonly why: 'start' | 'switch';
}

/**
 * Notes that the key of a profile is given to the gateway for a conversation: once a start and once a switch of its
 * model, however often the step is repeated.
 */
export async function noteProfileUse(
  pool: SqlPool,
  orgId: string,
  { id, name }: Pick<SealedProfile, 'id' | 'name'>,
  use: ProfileUse,
): Promise<void> {
  const { conversationId, epoch, why } = use;
  await inOrg(pool, orgId, async (client) => {
    // A switch is known by the entry of whoever wanted it.
    const { rows } = await client.query<Columns<'app.audit_entry', 'id'>>(
      "SELECT id FROM app.audit_entry WHERE org_id = $1 AND target = $2 AND action = 'conversation.set-model' ORDER BY created_at DESC LIMIT 1",
      [orgId, conversationId],
    );
    const wanted = why === 'switch' ? (rows[0]?.id ?? null) : null;
    await client.query(
      `INSERT INTO app.audit_entry (id, org_id, actor_kind, actor_id, actor_label, action, target, detail)
       SELECT $1::uuid, $2, 'system', 'worker', 'Slipway', 'llm-profile.use', $3, $4::jsonb WHERE NOT EXISTS (SELECT 1 FROM app.audit_entry WHERE id = $1::uuid)`,
      [
        stableId(`llm-profile.use ${conversationId} ${epoch} ${id} ${why} ${wanted}`),
        orgId,
        conversationId,
        JSON.stringify({ profile: id, name, epoch, why, ...(wanted === null ? {} : { wanted }) }),
      ],
    );
  });
}
