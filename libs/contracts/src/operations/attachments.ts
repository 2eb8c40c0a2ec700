import { Attachment, AttachmentList, UploadAttachmentQuery } from '../conversations/attachments.js';
import type { ErrorCode } from '../errors/error-codes.js';
import type { Operation } from './operation.js';

const PENDING = '/api/v1/orgs/{org}/attachments';
const ATTACHMENTS = '/api/v1/orgs/{org}/conversations/{conversation}/attachments';

const UPLOAD_ERRORS = [
  'request.not-bytes',
  'request.too-large',
  'request.cross-site',
  'idempotency.mismatch',
  'idempotency.in-progress',
  'attachment.limit',
  'storage.exhausted',
] as const satisfies readonly ErrorCode[];

/** Files of messages: uploaded first, then named by the message that takes them along. */
export const attachmentOperations = {
  uploadAttachment: {
    id: 'conversations.attachments.create',
    method: 'POST',
    path: ATTACHMENTS,
    summary: 'Upload a file for a message. Its type is what its content says; unsent it is kept for 24 hours',
    permission: 'conversation:write',
    status: 201,
    query: UploadAttachmentQuery,
    consumes: 'application/octet-stream',
    response: Attachment,
    idempotency: 'keyed',
    errors: UPLOAD_ERRORS,
  },
  listAttachments: {
    id: 'conversations.attachments.list',
    method: 'GET',
    path: ATTACHMENTS,
    summary: 'Files of the messages of a conversation, and those that the caller has not sent yet',
    permission: 'conversation:read',
    status: 200,
    response: AttachmentList,
    idempotency: 'idempotent',
    errors: [],
  },
  downloadAttachment: {
    id: 'conversations.attachments.content',
    method: 'GET',
    path: `${ATTACHMENTS}/{attachment}/content`,
    summary: 'The bytes of an attached file. Pictures have their type; all else is plain text or bytes',
    permission: 'conversation:read',
    status: 200,
    produces: '*/*',
    idempotency: 'idempotent',
    errors: [],
  },
  deleteAttachment: {
    id: 'conversations.attachments.delete',
    method: 'DELETE',
    path: `${ATTACHMENTS}/{attachment}`,
    summary: "Delete one of the caller's files that was not sent",
    permission: 'conversation:write',
    status: 204,
    idempotency: 'idempotent',
    errors: ['request.cross-site', 'attachment.sent'],
  },
  uploadTaskAttachment: {
    id: 'attachments.create',
    method: 'POST',
    path: PENDING,
    summary: 'Upload a file for the task of a new conversation. Unsent it is kept for 24 hours, for the caller alone',
    permission: 'conversation:create',
    status: 201,
    query: UploadAttachmentQuery,
    consumes: 'application/octet-stream',
    response: Attachment,
    idempotency: 'keyed',
    errors: UPLOAD_ERRORS,
  },
  deleteTaskAttachment: {
    id: 'attachments.delete',
    method: 'DELETE',
    path: `${PENDING}/{attachment}`,
    summary: "Delete one of the caller's files that was not sent with a task",
    permission: 'conversation:create',
    status: 204,
    idempotency: 'idempotent',
    errors: ['request.cross-site'],
  },
} as const satisfies Record<string, Operation>;
