import { inOrg, type PoolClient, type SqlPool } from '../sql/index.js';

/** A file without its content. `createdBy` is the id of who uploaded it. */
export interface AttachmentRow {
  readonly id: string;
  /** `null`: it waits for the conversation that it is for. */
  readonly conversationId: string | null;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
  readonly createdAt: Date;
  readonly createdBy: string;
  readonly createdByLabel: string;
  readonly messageId: string | null;
}

/** All but `content`. */
export const ATTACHMENT_COLUMNS = `id, conversation_id AS "conversationId", name, media_type AS "mediaType", bytes, created_at AS "createdAt",
  created_by AS "createdBy", created_by_label AS "createdByLabel", message_id AS "messageId"`;

/** How much of a file is read at once. Bytes; the driver holds twice as much of it while it reads. */
const SLICE_BYTES = 1024 * 1024;

/** Files of these messages, in the order of each; of `all`: of every message of the conversation. */
export async function sentAttachments(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  messages: readonly string[] | 'all',
): Promise<AttachmentRow[]> {
  const { rows } = await client.query<AttachmentRow>({
    name: 'sent-attachments',
    text: `SELECT ${ATTACHMENT_COLUMNS} FROM app.attachment
           WHERE org_id = $1 AND conversation_id = $2 AND message_id IS NOT NULL AND ($3::uuid[] IS NULL OR message_id = ANY ($3::uuid[]))
           ORDER BY message_id, place`,
    values: [orgId, conversationId, messages === 'all' ? null : messages],
  });
  return rows;
}

/**
 * The content in slices, none of which holds a connection while it is used. @throws Error when the file is deleted
 * meanwhile.
 */
export async function* readAttachment(
  pool: SqlPool,
  orgId: string,
  { id, bytes }: Pick<AttachmentRow, 'id' | 'bytes'>,
): AsyncGenerator<Buffer, void> {
  for (let at = 0; at < bytes; at += SLICE_BYTES) {
    const slice = await inOrg(pool, orgId, async (client) => {
      const { rows } = await client.query<{ slice: Buffer }>({
        name: 'read-attachment',
        text: 'SELECT substring(content FROM $3::int FOR $4::int) AS slice FROM app.attachment WHERE org_id = $1 AND id = $2',
        values: [orgId, id, at + 1, SLICE_BYTES],
      });
      return rows[0]?.slice;
    });
    if (slice === undefined) throw new Error('the attached file was deleted while it was read');
    yield slice;
  }
}
