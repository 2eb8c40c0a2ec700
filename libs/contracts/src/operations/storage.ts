import { Storage } from '../sandboxes/storage.js';
import type { Operation } from './operation.js';

const ORG = '/api/v1/orgs/{org}';

/** What an organization keeps, and how it makes room. */
export const storageOperations = {
  getStorage: {
    id: 'storage.get',
    method: 'GET',
    path: `${ORG}/storage`,
    summary: 'Storage that is used, by kind, its limit, and the largest conversations',
    permission: 'usage:read',
    status: 200,
    response: Storage,
    idempotency: 'idempotent',
    errors: [],
  },
  deleteConversation: {
    id: 'conversations.delete',
    method: 'DELETE',
    path: `${ORG}/conversations/{conversation}`,
    summary:
      'Delete a conversation with its log and workspace, for good; that of another user needs conversation:delete',
    permission: 'conversation:write',
    status: 204,
    idempotency: 'idempotent',
    errors: ['request.cross-site'],
  },
} as const satisfies Record<string, Operation>;
