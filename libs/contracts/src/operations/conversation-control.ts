import { RevokeConfirmationRule } from '../conversations/confirmation.js';
import { Conversation, QueuedMessage } from '../conversations/conversations.js';
import { AskConversation, CarryOutPlan, ConfirmationRuleList, ConversationAnswer, UpdateRunSettings } from '../conversations/run-settings.js';
import type { Operation } from './operation.js';

const CONVERSATION = '/api/v1/orgs/{org}/conversations/{conversation}';
const UNSAFE = ['request.not-json', 'request.too-large', 'request.cross-site'] as const;

export const conversationControlOperations = {
  updateRunSettings: {
    id: 'conversations.run-settings.update',
    method: 'PATCH',
    path: `${CONVERSATION}/run-settings`,
    summary: 'Change how far the agent of a conversation goes by itself, and whether it plans or works',
    permission: 'conversation:write',
    status: 200,
    body: UpdateRunSettings,
    response: Conversation,
    idempotency: 'idempotent',
    errors: [...UNSAFE, 'conversation.busy', 'sandbox.unreachable'],
  },
  carryOutPlan: {
    id: 'conversations.carry-out-plan',
    method: 'POST',
    path: `${CONVERSATION}/carry-out-plan`,
    summary: 'Let an agent that has planned carry its plan out',
    permission: 'conversation:write',
    status: 202,
    body: CarryOutPlan,
    response: QueuedMessage,
    idempotency: 'keyed',
    errors: [...UNSAFE, 'conversation.busy', 'conversation.queue-full', 'budget.exhausted', 'storage.exhausted', 'sandbox.unreachable'],
  },
  condenseConversation: {
    id: 'conversations.condense',
    method: 'POST',
    path: `${CONVERSATION}/condense`,
    summary: 'Summarize earlier steps for the agent: an idle one when this answers, a running one before its next step',
    permission: 'conversation:write',
    status: 200,
    response: Conversation,
    idempotency: 'idempotent',
    errors: ['request.cross-site', 'conversation.not-running', 'budget.exhausted', 'agent.budget-limit', 'sandbox.unreachable'],
  },
  askConversation: {
    id: 'conversations.ask',
    method: 'POST',
    path: `${CONVERSATION}/ask`,
    summary: 'Ask the agent something beside its task: answered from what it knows, and not in the log',
    permission: 'conversation:write',
    status: 200,
    body: AskConversation,
    response: ConversationAnswer,
    idempotency: 'keyed',
    errors: [...UNSAFE, 'conversation.not-running', 'budget.exhausted', 'agent.budget-limit', 'model.unavailable', 'sandbox.unreachable'],
  },
  listConfirmationRules: {
    id: 'conversations.confirmation-rules.list',
    method: 'GET',
    path: `${CONVERSATION}/confirmation-rules`,
    summary: 'What is not asked again in a conversation, the oldest first',
    permission: 'conversation:read',
    status: 200,
    response: ConfirmationRuleList,
    idempotency: 'idempotent',
    errors: [],
  },
  revokeConfirmationRule: {
    id: 'conversations.confirmation-rules.revoke',
    method: 'POST',
    path: `${CONVERSATION}/confirmation-rules/revoke`,
    summary: 'Let the agent ask again, from its next step on',
    permission: 'conversation:write',
    status: 200,
    body: RevokeConfirmationRule,
    response: ConfirmationRuleList,
    idempotency: 'idempotent',
    errors: [...UNSAFE, 'sandbox.unreachable'],
  },
} as const satisfies Record<string, Operation>;
