import { ThreadAnswerList } from '../callbacks.js';
import type { Operation } from '../operations.js';

/** What Slipway says elsewhere of how a conversation goes. */
export const callbackOperations = {
  listThreadAnswers: {
    id: 'conversations.answers.list',
    method: 'GET',
    path: '/api/v1/orgs/{org}/conversations/{conversation}/answers',
    summary: 'The comments in which threads at providers show how far the conversation is',
    permission: 'conversation:read',
    status: 200,
    response: ThreadAnswerList,
    idempotency: 'idempotent',
    errors: [],
  },
} as const satisfies Record<string, Operation>;
