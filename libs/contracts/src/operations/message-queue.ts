import { EditMessage, OrderMessages, QueuedMessage, QueuedMessageList } from '../conversations/conversations.js';
import { DropDraftQuery, KeepDraft, KeptDraft, MessageDraft } from '../conversations/drafts.js';
import type { Operation } from './operation.js';

const MESSAGES = '/api/v1/orgs/{org}/conversations/{conversation}/messages';
const DRAFT = '/api/v1/orgs/{org}/drafts/{draft}';
const UNSAFE = ['request.not-json', 'request.too-large', 'request.cross-site'] as const;

/** What becomes of messages before the agent has them: changed and ordered in the queue, or not sent yet. */
export const messageQueueOperations = {
  editMessage: {
    id: 'conversations.messages.update',
    method: 'PATCH',
    path: `${MESSAGES}/{message}`,
    summary: 'Change the text of a queued message: its author, or who may delete conversations of others',
    permission: 'conversation:write',
    status: 200,
    body: EditMessage,
    response: QueuedMessage,
    idempotency: 'idempotent',
    errors: [...UNSAFE, 'message.already-taken', 'message.changed', 'message.not-yours', 'storage.exhausted'],
  },
  orderMessages: {
    id: 'conversations.messages.order',
    method: 'PUT',
    path: `${MESSAGES}/order`,
    summary: 'Change the order of the messages that wait until the turn ends',
    permission: 'conversation:write',
    status: 200,
    body: OrderMessages,
    response: QueuedMessageList,
    idempotency: 'idempotent',
    errors: [...UNSAFE, 'message.already-taken'],
  },
  deliverMessageNow: {
    id: 'conversations.messages.now',
    method: 'POST',
    path: `${MESSAGES}/{message}/now`,
    summary: 'Interrupt the agent and hand it a queued message before all others',
    permission: 'conversation:write',
    status: 202,
    response: QueuedMessage,
    idempotency: 'idempotent',
    errors: ['request.cross-site', 'message.already-taken', 'budget.exhausted', 'storage.exhausted'],
  },
  getDraft: {
    id: 'drafts.get',
    method: 'GET',
    path: DRAFT,
    summary: "The caller's own draft of a conversation's next message, or of a new task (`new-task`)",
    permission: 'conversation:write',
    status: 200,
    response: MessageDraft,
    idempotency: 'idempotent',
    errors: [],
  },
  keepDraft: {
    id: 'drafts.put',
    method: 'PUT',
    path: DRAFT,
    summary: 'Keep a draft. The newest text wins, and what it replaces of another device is answered',
    permission: 'conversation:write',
    status: 200,
    body: KeepDraft,
    response: KeptDraft,
    idempotency: 'none',
    errors: [...UNSAFE],
  },
  dropDraft: {
    id: 'drafts.delete',
    method: 'DELETE',
    path: DRAFT,
    summary: 'Delete a draft, as after it was sent; with `version` only if it has not changed since',
    permission: 'conversation:write',
    status: 204,
    query: DropDraftQuery,
    idempotency: 'idempotent',
    errors: ['request.cross-site'],
  },
} as const satisfies Record<string, Operation>;
