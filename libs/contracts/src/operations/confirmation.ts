import { AnswerConfirmation, SetConfirmationMode } from '../conversations/confirmation.js';
import { Conversation } from '../conversations/conversations.js';
import type { Operation } from './operation.js';

export const confirmationOperations = {
  answerConfirmation: {
    id: 'conversations.confirmation.answer',
    method: 'POST',
    path: '/api/v1/orgs/{org}/conversations/{conversation}/confirmation',
    summary: 'Approve or reject what the agent asks for; the first answer counts',
    permission: 'conversation:write',
    status: 200,
    body: AnswerConfirmation,
    response: Conversation,
    idempotency: 'keyed',
    errors: [
      'request.not-json',
      'request.too-large',
      'request.cross-site',
      'conversation.nothing-to-confirm',
      'conversation.four-eyes',
      'sandbox.unreachable',
    ],
  },
  setConfirmationMode: {
    id: 'conversations.confirmation-mode.set',
    method: 'PUT',
    path: '/api/v1/orgs/{org}/conversations/{conversation}/confirmation-mode',
    summary: 'Say how often the agent of a conversation asks before it acts, from its next step on',
    permission: 'conversation:write',
    status: 200,
    body: SetConfirmationMode,
    response: Conversation,
    idempotency: 'idempotent',
    errors: ['request.not-json', 'request.too-large', 'request.cross-site', 'sandbox.unreachable'],
  },
} as const satisfies Record<string, Operation>;
