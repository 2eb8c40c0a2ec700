import type { Columns, PoolClient } from '@slipway/db/sql';

export interface EditableRow {
  readonly title: string;
  readonly tags: readonly string[];
  readonly archived: boolean;
  readonly createdBy: string;
  readonly deleted: boolean;
}

/** Its row, locked; `null`: there is none, or it is deleted and this transaction does not show deleted ones. */
export async function lockEditable(client: PoolClient, orgId: string, id: string): Promise<EditableRow | null> {
  const { rows } = await client.query<
    Columns<'app.conversation', 'title' | 'tags' | 'created_by'> & { archived: boolean; deleted: boolean }
  >({
    name: 'lock-editable',
    text: `SELECT title, tags, created_by, archived_at IS NOT NULL AS archived, deleted_at IS NOT NULL AS deleted
           FROM app.conversation WHERE org_id = $1 AND id = $2 FOR UPDATE`,
    values: [orgId, id],
  });
  const [row] = rows;
  return row === undefined
    ? null
    : { title: row.title, tags: row.tags, archived: row.archived, createdBy: row.created_by, deleted: row.deleted };
}

/** `undefined` leaves a field as it is. */
interface ChangedColumns {
  readonly title?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly archived?: boolean | undefined;
}

export async function setEdits(
  client: PoolClient,
  orgId: string,
  id: string,
  { title, tags, archived }: ChangedColumns,
): Promise<void> {
  await client.query({
    name: 'set-edits',
    text: `UPDATE app.conversation SET tags = coalesce($3::text[], tags), title = coalesce($5, title),
             archived_at = CASE WHEN $4::boolean THEN coalesce(archived_at, now()) WHEN NOT $4::boolean THEN NULL ELSE archived_at END
           WHERE org_id = $1 AND id = $2`,
    values: [orgId, id, tags ?? null, archived ?? null, title ?? null],
  });
}

export async function setPin(
  client: PoolClient,
  orgId: string,
  id: string,
  { userId, pinned }: { readonly userId: string; readonly pinned: boolean },
): Promise<void> {
  await client.query(
    pinned
      ? {
          name: 'pin',
          text: 'INSERT INTO app.conversation_pin (org_id, user_id, conversation_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
          values: [orgId, userId, id],
        }
      : {
          name: 'unpin',
          text: 'DELETE FROM app.conversation_pin WHERE org_id = $1 AND user_id = $2 AND conversation_id = $3',
          values: [orgId, userId, id],
        },
  );
}

/**
 * Marks it deleted: no sandbox wanted, no job but the one that takes the sandbox away, no way into the sandbox. The
 * transaction shows deleted ones.
 */
export async function markDeleted(client: PoolClient, orgId: string, id: string, by: string): Promise<void> {
  await client.query(
    'UPDATE app.sandbox_grant SET revoked_at = now() WHERE org_id = $1 AND conversation_id = $2 AND revoked_at IS NULL',
    [orgId, id],
  );
  await client.query('DELETE FROM app.outbox WHERE org_id = $1 AND key = $2', [orgId, id]);
  await client.query(
    'UPDATE app.conversation SET deleted_at = now(), deleted_by_label = $3 WHERE org_id = $1 AND id = $2',
    [orgId, id, by],
  );
}

export async function markRestored(client: PoolClient, orgId: string, id: string): Promise<void> {
  await client.query(
    'UPDATE app.conversation SET deleted_at = NULL, deleted_by_label = NULL WHERE org_id = $1 AND id = $2',
    [orgId, id],
  );
}
