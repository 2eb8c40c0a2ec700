import { Conversation } from '../conversations/conversations.js';
import {
  BulkEdit,
  BulkEditResult,
  DeleteConversationQuery,
  EditConversation,
} from '../conversations/edit-conversations.js';
import type { Operation } from './operation.js';

const CONVERSATIONS = '/api/v1/orgs/{org}/conversations';
const UNSAFE = ['request.not-json', 'request.too-large', 'request.cross-site'] as const;

/** What users change of conversations beside their tasks. */
export const editConversationOperations = {
  editConversation: {
    id: 'conversations.edit',
    method: 'PATCH',
    path: `${CONVERSATIONS}/{conversation}`,
    summary: 'Rename, tag or archive a conversation, or pin it for the caller',
    permission: 'conversation:write',
    status: 200,
    body: EditConversation,
    response: Conversation,
    idempotency: 'idempotent',
    errors: [...UNSAFE, 'storage.exhausted'],
  },
  bulkEditConversations: {
    id: 'conversations.bulk-edit',
    method: 'POST',
    path: `${CONVERSATIONS}/bulk`,
    summary: 'Tag, archive, stop, delete or restore up to 100 conversations, with an answer for each',
    permission: 'conversation:write',
    status: 200,
    body: BulkEdit,
    response: BulkEditResult,
    idempotency: 'idempotent',
    errors: [...UNSAFE],
  },
  deleteConversation: {
    id: 'conversations.delete',
    method: 'DELETE',
    path: `${CONVERSATIONS}/{conversation}`,
    summary:
      'Stop and delete a conversation; it can be restored for 48 hours. That of another user needs conversation:delete',
    permission: 'conversation:write',
    status: 204,
    query: DeleteConversationQuery,
    idempotency: 'idempotent',
    errors: ['request.cross-site'],
  },
  restoreConversation: {
    id: 'conversations.restore',
    method: 'POST',
    path: `${CONVERSATIONS}/{conversation}/restore`,
    summary: 'Take a conversation back from the trash; that of another user needs conversation:delete',
    permission: 'conversation:write',
    status: 200,
    response: Conversation,
    idempotency: 'idempotent',
    errors: ['request.cross-site'],
  },
} as const satisfies Record<string, Operation>;
