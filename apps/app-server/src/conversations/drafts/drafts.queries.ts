import { type KeepDraft, type KeptDraft, type MessageDraft, NEW_TASK } from '@slipway/contracts/conversations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';

/** Whose draft of what. `user` is always the caller: nobody reads another user's. */
export interface DraftKey {
  readonly orgId: string;
  readonly user: string;
  /** A conversation's id, or `new-task`. */
  readonly subject: string;
}

const NONE: MessageDraft = { text: '', version: 0, updatedAt: null };

/** `null` when there is no such conversation. */
export function readDraft(pool: SqlPool, { orgId, user, subject }: DraftKey): Promise<MessageDraft | null> {
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<{ text: string; version: string; updated_at: Date }>({
      name: 'read-draft',
      text: 'SELECT text, version, updated_at FROM app.message_draft WHERE org_id = $1 AND user_id = $2 AND subject = $3',
      values: [orgId, user, subject],
    });
    const row = rows[0];
    if (row !== undefined)
      return { text: row.text, version: Number(row.version), updatedAt: row.updated_at.toISOString() };
    return (await isThere(client, orgId, subject)) ? NONE : null;
  });
}

/** The newest text wins; answers the one that the writer did not know. `null` when there is no such conversation. */
export function writeDraft(
  pool: SqlPool,
  { orgId, user, subject }: DraftKey,
  { text, version }: KeepDraft,
): Promise<KeptDraft | null> {
  const conversationId = subject === NEW_TASK ? null : subject;
  return inOrg(pool, orgId, async (client) => {
    if (!(await isThere(client, orgId, subject))) return null;
    const known = await client.query<{ text: string; version: string }>({
      name: 'lock-draft',
      text: 'SELECT text, version FROM app.message_draft WHERE org_id = $1 AND user_id = $2 AND subject = $3 FOR UPDATE',
      values: [orgId, user, subject],
    });
    const { rows } = await client.query<{ version: string; updated_at: Date }>({
      name: 'write-draft',
      text: `INSERT INTO app.message_draft (org_id, user_id, subject, conversation_id, text, version, updated_at)
             VALUES ($1, $2, $3, $4, $5, floor(extract(epoch FROM clock_timestamp()) * 1000), clock_timestamp())
             ON CONFLICT (org_id, user_id, subject) DO UPDATE
               SET text = excluded.text, version = greatest(excluded.version, message_draft.version + 1), updated_at = excluded.updated_at
             RETURNING version, updated_at`,
      values: [orgId, user, subject, conversationId, text],
    });
    const [before, after] = [known.rows[0], rows[0]];
    if (after === undefined) throw new Error('a draft was not written');
    const unknown = before !== undefined && Number(before.version) !== version && before.text !== text;
    return {
      text,
      version: Number(after.version),
      updatedAt: after.updated_at.toISOString(),
      replaced: unknown && before.text.trim() !== '' ? before.text : null,
    };
  });
}

/** With a version: only that one. False when there is no such conversation. */
export function deleteDraft(
  pool: SqlPool,
  { orgId, user, subject }: DraftKey,
  version: number | undefined,
): Promise<boolean> {
  return inOrg(pool, orgId, async (client) => {
    await client.query({
      name: 'delete-draft',
      text: `DELETE FROM app.message_draft
             WHERE org_id = $1 AND user_id = $2 AND subject = $3 AND ($4::bigint IS NULL OR version = $4::bigint)`,
      values: [orgId, user, subject, version ?? null],
    });
    return isThere(client, orgId, subject);
  });
}

async function isThere(client: PoolClient, orgId: string, subject: string): Promise<boolean> {
  if (subject === NEW_TASK) return true;
  const { rowCount } = await client.query({
    name: 'conversation-of-draft',
    text: 'SELECT 1 FROM app.conversation WHERE org_id = $1 AND id = $2::uuid FOR KEY SHARE',
    values: [orgId, subject],
  });
  return rowCount === 1;
}
