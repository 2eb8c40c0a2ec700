import {
  type Attachment,
  MAX_CONVERSATION_ATTACHMENT_BYTES,
  MAX_CONVERSATION_ATTACHMENTS,
  MAX_PENDING_ATTACHMENT_BYTES,
  MAX_PENDING_ATTACHMENTS,
  UNSENT_ATTACHMENT_HOURS,
} from '@slipway/contracts/conversations';
import type { Principal } from '@slipway/contracts/organizations';
import { ATTACHMENT_COLUMNS, type AttachmentRow } from '@slipway/db/conversations';
import type { PoolClient } from '@slipway/db/sql';

const COUNT = `SELECT app.count_storage($1, $2::uuid, 0, $3::bigint, 0, 'work')`;

export interface NewAttachment {
  readonly id: string;
  readonly name: string;
  readonly mediaType: string;
  readonly content: Buffer;
}

export function toAttachment(row: AttachmentRow): Attachment {
  return {
    id: row.id,
    name: row.name,
    mediaType: row.mediaType,
    sizeBytes: row.bytes,
    createdAt: row.createdAt.toISOString(),
    createdBy: row.createdByLabel,
    messageId: row.messageId,
  };
}

/** Whatever its state, of whatever conversation of the organization. */
export async function findAttachment(client: PoolClient, orgId: string, id: string): Promise<AttachmentRow | null> {
  const { rows } = await client.query<AttachmentRow>({
    name: 'find-attachment',
    text: `SELECT ${ATTACHMENT_COLUMNS} FROM app.attachment WHERE org_id = $1 AND id = $2`,
    values: [orgId, id],
  });
  return rows[0] ?? null;
}

/** Those of messages, in the order of their upload, and those that `user` has not sent yet. */
export async function listAttachments(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  user: string,
): Promise<AttachmentRow[]> {
  const { rows } = await client.query<AttachmentRow>({
    name: 'list-attachments',
    text: `SELECT ${ATTACHMENT_COLUMNS} FROM app.attachment
           WHERE org_id = $1 AND conversation_id = $2 AND (message_id IS NOT NULL OR created_by = $3) ORDER BY created_at, id`,
    values: [orgId, conversationId, user],
  });
  return rows;
}

/** Whether one more of this size is within the limits of a conversation. For a caller that holds its row. */
export async function hasRoom(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  bytes: number,
): Promise<boolean> {
  const { rows } = await client.query<{ files: number; bytes: string }>({
    name: 'room-for-attachment',
    text: 'SELECT count(*)::int AS files, coalesce(sum(bytes), 0)::bigint AS bytes FROM app.attachment WHERE org_id = $1 AND conversation_id = $2',
    values: [orgId, conversationId],
  });
  const used = rows[0] ?? { files: 0, bytes: '0' };
  return used.files < MAX_CONVERSATION_ATTACHMENTS && Number(used.bytes) + bytes <= MAX_CONVERSATION_ATTACHMENT_BYTES;
}

/** Whether one more of this size is within the limits of a user's files that wait for a conversation. */
export async function hasPendingRoom(client: PoolClient, caller: Principal, bytes: number): Promise<boolean> {
  // Uploads of one user take turns, as those of a conversation do by its row.
  await client.query({
    name: 'lock-pending-attachments',
    text: `SELECT pg_advisory_xact_lock(hashtextextended('attachments:' || $1 || ':' || $2, 0))`,
    values: [caller.orgId, caller.actor.id],
  });
  const { rows } = await client.query<{ files: number; bytes: string }>({
    name: 'room-for-pending-attachment',
    text: `SELECT count(*)::int AS files, coalesce(sum(bytes), 0)::bigint AS bytes FROM app.attachment
           WHERE org_id = $1 AND conversation_id IS NULL AND created_by = $2`,
    values: [caller.orgId, caller.actor.id],
  });
  const used = rows[0] ?? { files: 0, bytes: '0' };
  return used.files < MAX_PENDING_ATTACHMENTS && Number(used.bytes) + bytes <= MAX_PENDING_ATTACHMENT_BYTES;
}

/**
 * For a caller that holds the conversation's row; without a conversation it waits for one and is not counted for the
 * storage yet. Raises SL507 when the organization's storage is full.
 */
export async function insertAttachment(
  client: PoolClient,
  caller: Principal,
  conversationId: string | null,
  { id, name, mediaType, content }: NewAttachment,
): Promise<AttachmentRow> {
  const { rows } = await client.query<AttachmentRow>({
    name: 'insert-attachment',
    text: `INSERT INTO app.attachment (id, org_id, conversation_id, name, media_type, bytes, content, created_by, created_by_label, expires_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + $10 * interval '1 hour') RETURNING ${ATTACHMENT_COLUMNS}`,
    values: [
      id,
      caller.orgId,
      conversationId,
      name,
      mediaType,
      content.length,
      content,
      caller.actor.id,
      caller.actor.label,
      UNSENT_ATTACHMENT_HOURS,
    ],
  });
  if (conversationId !== null) await count(client, caller.orgId, conversationId, content.length);
  const row = rows[0];
  if (row === undefined) throw new Error('an attachment was not stored');
  return row;
}

/** For a caller that holds the conversation's row and has seen that it is not sent. */
export async function deleteAttachment(client: PoolClient, orgId: string, row: AttachmentRow): Promise<void> {
  const { rowCount } = await client.query({
    name: 'delete-attachment',
    text: 'DELETE FROM app.attachment WHERE org_id = $1 AND id = $2 AND message_id IS NULL',
    values: [orgId, row.id],
  });
  if (rowCount === 1 && row.conversationId !== null) await count(client, orgId, row.conversationId, -row.bytes);
}

async function count(client: PoolClient, orgId: string, conversationId: string, bytes: number): Promise<void> {
  await client.query({ name: 'count-attachment', text: COUNT, values: [orgId, conversationId, bytes] });
}

/** Deletes one that waits for a conversation. @returns false when there is none, or it is not the caller's. */
export async function deletePending(client: PoolClient, caller: Principal, id: string): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'delete-pending-attachment',
    text: 'DELETE FROM app.attachment WHERE org_id = $1 AND id = $2 AND conversation_id IS NULL AND created_by = $3',
    values: [caller.orgId, id, caller.actor.id],
  });
  return rowCount === 1;
}

/**
 * Gives files of the caller that wait for a conversation to the first message of this one, in this order. For the
 * transaction that makes it. Raises SL507 when the organization's storage is full.
 * @returns false when one of them is not there, not the caller's, or has a conversation already.
 */
export async function attachToFirst(
  client: PoolClient,
  caller: Principal,
  { conversationId, messageId }: { readonly conversationId: string; readonly messageId: string },
  ids: readonly string[],
): Promise<boolean> {
  const { rows } = await client.query<{ bytes: number }>({
    name: 'attach-to-first-message',
    text: `UPDATE app.attachment SET conversation_id = $2, message_id = $4, place = array_position($5::uuid[], id), expires_at = NULL
           WHERE org_id = $1 AND conversation_id IS NULL AND created_by = $3 AND id = ANY ($5::uuid[]) RETURNING bytes`,
    values: [caller.orgId, conversationId, caller.actor.id, messageId, ids],
  });
  await count(
    client,
    caller.orgId,
    conversationId,
    rows.reduce((sum, { bytes }) => sum + bytes, 0),
  );
  return rows.length === new Set(ids).size;
}

/**
 * Gives files of the caller to a message, in this order. For a caller that holds the conversation's row.
 * @returns false when one of them is not there, not the caller's, or sent already.
 */
export async function attachTo(
  client: PoolClient,
  caller: Principal,
  { conversationId, messageId }: { readonly conversationId: string; readonly messageId: string },
  ids: readonly string[],
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'attach-to-message',
    text: `UPDATE app.attachment SET message_id = $4, place = array_position($5::uuid[], id), expires_at = NULL
           WHERE org_id = $1 AND conversation_id = $2 AND created_by = $3 AND message_id IS NULL AND id = ANY ($5::uuid[])`,
    values: [caller.orgId, conversationId, caller.actor.id, messageId, ids],
  });
  return rowCount === new Set(ids).size;
}

/** Those of a message that was withdrawn can be sent again, and expire as if they were uploaded now. */
export async function detachFrom(client: PoolClient, orgId: string, messageId: string): Promise<void> {
  await client.query({
    name: 'detach-from-message',
    text: `UPDATE app.attachment SET message_id = NULL, expires_at = now() + $3 * interval '1 hour' WHERE org_id = $1 AND message_id = $2`,
    values: [orgId, messageId, UNSENT_ATTACHMENT_HOURS],
  });
}
