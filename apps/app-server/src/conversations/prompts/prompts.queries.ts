import type { Columns, PoolClient } from '@slipway/db/sql';
import type { PromptPlace } from './prompt-cursor.js';

export type PromptRow = Columns<
  'app.prompt',
  | 'id'
  | 'user_id'
  | 'name'
  | 'description'
  | 'text'
  | 'created_by'
  | 'created_by_label'
  | 'created_at'
  | 'updated_by'
  | 'updated_by_label'
  | 'updated_at'
>;

const COLUMNS = `id, user_id, name, description, text, created_by, created_by_label, created_at,
  updated_by, updated_by_label, updated_at`;

/** `user_id` of the organization's prompts. */
export const OF_ORG = '';

/** Whose prompts: `OF_ORG`, and never a user but the caller. */
export type Owners = readonly string[];

/** `limit` after `after`: first those whose name begins with `search`, then by name. */
export async function listPrompts(
  client: PoolClient,
  orgId: string,
  { owners, search }: { readonly owners: Owners; readonly search: string },
  page: { readonly after: PromptPlace | null; readonly limit: number },
): Promise<Array<PromptRow & { rank: number }>> {
  const { rows } = await client.query<PromptRow & { rank: number }>({
    name: 'list-prompts',
    text: `SELECT * FROM (
             SELECT ${COLUMNS}, CASE WHEN starts_with(name, lower($3)) THEN 0 ELSE 1 END AS rank FROM app.prompt
             WHERE org_id = $1 AND user_id = ANY ($2) AND (strpos(name, lower($3)) > 0 OR strpos(lower(description), lower($3)) > 0)
           ) found
           WHERE $4::int IS NULL OR (rank, name, id) > ($4, $5, $6)
           ORDER BY rank, name, id LIMIT $7`,
    values: [
      orgId,
      owners,
      search,
      page.after?.rank ?? null,
      page.after?.name ?? null,
      page.after?.id ?? null,
      page.limit,
    ],
  });
  return rows;
}

export async function countPrompts(client: PoolClient, orgId: string, owner: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM app.prompt WHERE org_id = $1 AND user_id = $2',
    [orgId, owner],
  );
  return rows[0]?.count ?? 0;
}

/** Locked until the transaction ends; `null` when it is another user's, or not there. */
export async function lockPrompt(
  client: PoolClient,
  orgId: string,
  owners: Owners,
  id: string,
): Promise<PromptRow | null> {
  const { rows } = await client.query<PromptRow>(
    `SELECT ${COLUMNS} FROM app.prompt WHERE org_id = $1 AND user_id = ANY ($2) AND id = $3 FOR UPDATE`,
    [orgId, owners, id],
  );
  return rows[0] ?? null;
}

export type PromptValues = Pick<PromptRow, 'id' | 'name' | 'description' | 'text'>;

/** @returns `null` when the owner has one with this name. */
export async function insertPrompt(
  client: PoolClient,
  orgId: string,
  { id, name, description, text, owner }: PromptValues & { readonly owner: string },
  by: { readonly id: string; readonly label: string },
): Promise<PromptRow | null> {
  const { rows } = await client.query<PromptRow>(
    `INSERT INTO app.prompt (org_id, id, user_id, name, description, text, created_by, created_by_label, updated_by, updated_by_label)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $7, $8)
     ON CONFLICT (org_id, user_id, name) DO NOTHING RETURNING ${COLUMNS}`,
    [orgId, id, owner, name, description, text, by.id, by.label],
  );
  return rows[0] ?? null;
}

/**
 * @returns `null` when the name is another's of the same owner. Two that take it at the same moment: the second fails
 * with the unique index.
 */
export async function updatePrompt(
  client: PoolClient,
  orgId: string,
  { id, name, description, text }: PromptValues,
  by: { readonly id: string; readonly label: string },
): Promise<PromptRow | null> {
  const { rows } = await client.query<PromptRow>(
    `UPDATE app.prompt p SET name = $3, description = $4, text = $5, updated_by = $6, updated_by_label = $7, updated_at = now()
     WHERE org_id = $1 AND id = $2
       AND NOT EXISTS (SELECT 1 FROM app.prompt o WHERE o.org_id = $1 AND o.user_id = p.user_id AND o.name = $3 AND o.id <> $2)
     RETURNING ${COLUMNS}`,
    [orgId, id, name, description, text, by.id, by.label],
  );
  return rows[0] ?? null;
}

export async function deletePrompt(client: PoolClient, orgId: string, id: string): Promise<void> {
  await client.query('DELETE FROM app.prompt WHERE org_id = $1 AND id = $2', [orgId, id]);
}
