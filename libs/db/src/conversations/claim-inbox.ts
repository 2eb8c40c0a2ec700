import { type Columns, inOrg, type SqlPool } from '../sql/index.js';

type InboxRow = Columns<'app.inbox_message', 'id' | 'text' | 'notice', { notice: 'read' | 'start' | null }> & {
  readonly createdBy: string;
  readonly createdByLabel: string;
};

/**
 * Messages that no log has yet, in order. Those still `queued` are claimed, but for those that wait for the end of the
 * turn: from here on they cannot be changed or withdrawn. The row's lock lets a change of their order come before or
 * after, and never between.
 */
export function claimInbox(
  pool: SqlPool,
  orgId: string,
  id: string,
): Promise<{ messages: InboxRow[]; claimed: number }> {
  return inOrg(pool, orgId, async (client) => {
    await client.query({
      name: 'lock-inbox',
      text: 'SELECT 1 FROM app.conversation WHERE id = $1 FOR UPDATE',
      values: [id],
    });
    const claimed = await client.query({
      name: 'claim-inbox',
      text: `UPDATE app.inbox_message SET state = 'delivered' WHERE conversation_id = $1 AND state = 'queued' AND NOT held`,
      values: [id],
    });
    const messages = await client.query<InboxRow>({
      name: 'read-inbox',
      text: `SELECT id, text, created_by AS "createdBy", created_by_label AS "createdByLabel", notice FROM app.inbox_message WHERE conversation_id = $1 AND state = 'delivered' ORDER BY position`,
      values: [id],
    });
    return { messages: messages.rows, claimed: claimed.rowCount ?? 0 };
  });
}
