import { Conversation, SwitchModel } from '../conversations/conversations.js';
import type { Operation } from './operation.js';

export const conversationModelOperations = {
  switchModel: {
    id: 'conversations.model.set',
    method: 'POST',
    path: '/api/v1/orgs/{org}/conversations/{conversation}/model',
    summary: 'Give a conversation another model: one at work from its next step on, any other at its next start',
    permission: 'conversation:write',
    status: 200,
    body: SwitchModel,
    response: Conversation,
    idempotency: 'idempotent',
    errors: ['request.not-json', 'request.too-large', 'request.cross-site', 'model.unknown'],
  },
} as const satisfies Record<string, Operation>;
