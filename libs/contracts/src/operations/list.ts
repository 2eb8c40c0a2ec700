import { z } from 'zod';
import {
  Conversation,
  ConversationSummary,
  CreateConversation,
  EventsQuery,
  ListConversationsQuery,
  pageOf,
  QueuedMessage,
  SendMessage,
} from '../conversations/conversations.js';
import type { ErrorCode } from '../errors/error-codes.js';
import { EventPage } from '../events/conversation-event.js';
import { Me, ModelList, Org } from '../organizations/orgs.js';
import { GrantSandboxAccess, SandboxAccess, SandboxAccessList } from '../sandboxes/sandbox-access.js';
import { accountOperations } from './account.js';
import { adminUsageOperations } from './admin-usage.js';
import { analyticsOperations } from './analytics.js';
import { apiKeyOperations } from './api-keys.js';
import { attachmentOperations } from './attachments.js';
import { auditOperations } from './audit.js';
import { callbackOperations } from './callbacks.js';
import { changesOperations } from './changes.js';
import { checkpointOperations } from './checkpoints.js';
import { confirmationOperations } from './confirmation.js';
import { connectionAuthorizationOperations } from './connection-authorization.js';
import { conversationControlOperations } from './conversation-control.js';
import { conversationModelOperations } from './conversation-model.js';
import { credentialOperations } from './credentials.js';
import { deskOperations } from './desk.js';
import { deviceOperations } from './device.js';
import { domainOperations } from './domains.js';
import { editConversationOperations } from './edit-conversations.js';
import { egressOperations } from './egress.js';
import { integrationAppOperations } from './integration-apps.js';
import { integrationHookOperations } from './integration-hooks.js';
import { integrationOperations } from './integrations.js';
import { invitationOperations } from './invitations.js';
import { linkedAccountOperations } from './linked-accounts.js';
import { lookupOperations } from './lookup.js';
import { memberOperations } from './members.js';
import { messageQueueOperations } from './message-queue.js';
import { modelHealthOperations } from './model-health.js';
import { openHandsOperations } from './openhands.js';
import { openHandsSandboxOperations } from './openhands-sandboxes.js';
import type { Operation } from './operation.js';
import { orgOperations } from './orgs.js';
import { outcomeOperations } from './outcomes.js';
import { promptLogOperations } from './prompt-log.js';
import { promptOperations } from './prompts.js';
import { pullRequestOperations } from './pull-requests.js';
import { repositoryOperations } from './repositories.js';
import { reviewOperations } from './review.js';
import { secretOperations } from './secrets.js';
import { securityOperations } from './security.js';
import { serviceAccountOperations } from './service-accounts.js';
import { settingsOperations } from './settings.js';
import { storageOperations } from './storage.js';
import { suggestedTaskOperations } from './suggested-tasks.js';
import { traceOperations } from './trace.js';

const ORG = '/api/v1/orgs/{org}';
const CONVERSATION = `${ORG}/conversations/{conversation}`;

const SEND_ERRORS = [
  'request.not-json',
  'request.too-large',
  'request.cross-site',
  'idempotency.mismatch',
  'idempotency.in-progress',
] as const satisfies readonly ErrorCode[];

export const operations = {
  me: {
    id: 'me.get',
    method: 'GET',
    path: '/api/v1/me',
    summary:
      'The signed-in user and their organizations; with an API key its owner, and the one organization that it reaches',
    permission: null,
    proof: 'any',
    beforeGates: true,
    status: 200,
    response: Me,
    idempotency: 'idempotent',
    errors: [],
  },
  getOrg: {
    id: 'orgs.get',
    method: 'GET',
    path: ORG,
    summary: 'One organization',
    permission: 'org:read',
    status: 200,
    response: Org,
    idempotency: 'idempotent',
    errors: [],
  },
  listModels: {
    id: 'models.list',
    method: 'GET',
    path: `${ORG}/models`,
    summary: 'Models that a conversation can use',
    permission: 'org:read',
    status: 200,
    response: ModelList,
    idempotency: 'idempotent',
    errors: [],
  },
  listConversations: {
    id: 'conversations.list',
    method: 'GET',
    path: `${ORG}/conversations`,
    summary: 'Conversations, newest first',
    permission: 'conversation:read',
    status: 200,
    query: ListConversationsQuery,
    response: pageOf(ConversationSummary),
    idempotency: 'idempotent',
    errors: [],
  },
  createConversation: {
    id: 'conversations.create',
    method: 'POST',
    path: `${ORG}/conversations`,
    summary: 'Give a task to an agent',
    permission: 'conversation:create',
    limit: 'starts',
    status: 201,
    body: CreateConversation,
    response: Conversation,
    idempotency: 'keyed',
    errors: [
      ...SEND_ERRORS,
      'model.unknown',
      'budget.exhausted',
      'storage.exhausted',
      'attachment.unavailable',
      'repository.unknown',
      'repository.ambiguous',
      'repository.not-connected',
      'linked-account.needed',
      'integration.provider-away',
      'integration.provider-refused',
    ],
  },
  getConversation: {
    id: 'conversations.get',
    method: 'GET',
    path: CONVERSATION,
    summary: 'One conversation with its start steps and queue',
    permission: 'conversation:read',
    status: 200,
    response: Conversation,
    idempotency: 'idempotent',
    errors: [],
  },
  sendMessage: {
    id: 'conversations.messages.create',
    method: 'POST',
    path: `${CONVERSATION}/messages`,
    summary:
      'Queue a message; it is taken in once, in order. An agent at work reads it at its next step, with `Prefer: delivery=after-turn` when its turn ends',
    permission: 'conversation:write',
    status: 202,
    body: SendMessage,
    response: QueuedMessage,
    idempotency: 'keyed',
    errors: [
      ...SEND_ERRORS,
      'conversation.queue-full',
      'budget.exhausted',
      'storage.exhausted',
      'attachment.unavailable',
    ],
  },
  withdrawMessage: {
    id: 'conversations.messages.delete',
    method: 'DELETE',
    path: `${CONVERSATION}/messages/{message}`,
    summary: 'Take back a message that is still queued',
    permission: 'conversation:write',
    status: 204,
    idempotency: 'idempotent',
    errors: ['request.cross-site', 'conversation.busy'],
  },
  stopConversation: {
    id: 'conversations.stop',
    method: 'POST',
    path: `${CONVERSATION}/stop`,
    summary: 'Stop the run at once',
    permission: 'conversation:write',
    status: 202,
    response: Conversation,
    idempotency: 'idempotent',
    errors: ['request.cross-site', 'sandbox.unreachable'],
  },
  pauseConversation: {
    id: 'conversations.pause',
    method: 'POST',
    path: `${CONVERSATION}/pause`,
    summary: 'Halt, keep the workspace and give the sandbox back',
    permission: 'conversation:write',
    status: 202,
    response: Conversation,
    idempotency: 'idempotent',
    errors: ['request.cross-site'],
  },
  resumeConversation: {
    id: 'conversations.resume',
    method: 'POST',
    path: `${CONVERSATION}/resume`,
    summary: 'Go on: a sandbox with the same workspace, and the run',
    permission: 'conversation:write',
    limit: 'starts',
    status: 202,
    response: Conversation,
    idempotency: 'idempotent',
    errors: ['request.cross-site', 'storage.exhausted'],
  },
  listSandboxAccess: {
    id: 'conversations.sandbox-access.list',
    method: 'GET',
    path: `${CONVERSATION}/sandbox-access`,
    summary: 'Every access to the sandbox of the conversation that holds, newest first, whoever has it',
    permission: 'sandbox:access',
    status: 200,
    response: SandboxAccessList,
    idempotency: 'idempotent',
    errors: ['sandbox.no-gateway'],
  },
  grantSandboxAccess: {
    id: 'conversations.sandbox-access.create',
    method: 'POST',
    path: `${CONVERSATION}/sandbox-access`,
    summary: 'A way into one port of the sandbox for a while: a token for clients, a ticket for a browser',
    permission: 'sandbox:access',
    status: 201,
    body: GrantSandboxAccess,
    response: SandboxAccess,
    // Not keyed: a stored answer would be a stored token. Asked twice without `reuse` it is granted twice, and both end
    // by themselves.
    idempotency: 'idempotent',
    errors: ['request.not-json', 'request.cross-site', 'sandbox.port-closed', 'sandbox.no-gateway'],
  },
  revokeSandboxAccess: {
    id: 'conversations.sandbox-access.delete',
    method: 'DELETE',
    path: `${CONVERSATION}/sandbox-access/{access}`,
    summary: 'End one access within a second, on open sockets too',
    permission: 'sandbox:access',
    status: 204,
    idempotency: 'idempotent',
    errors: ['request.cross-site'],
  },
  revokeAllSandboxAccess: {
    id: 'conversations.sandbox-access.delete-all',
    method: 'DELETE',
    path: `${CONVERSATION}/sandbox-access`,
    summary: 'End every access to the sandbox of the conversation, whoever has it',
    permission: 'sandbox:access',
    status: 204,
    idempotency: 'idempotent',
    errors: ['request.cross-site'],
  },
  readEvents: {
    id: 'conversations.events.list',
    method: 'GET',
    path: `${CONVERSATION}/events`,
    summary: 'The log, as a page or as a stream (Accept: text/event-stream)',
    permission: 'conversation:read',
    status: 200,
    query: EventsQuery,
    response: EventPage,
    alternative: 'text/event-stream',
    idempotency: 'idempotent',
    errors: [],
  },
  readBlob: {
    id: 'conversations.blobs.get',
    method: 'GET',
    path: `${CONVERSATION}/blobs/{sha256}`,
    summary: 'A payload that was too large for its event',
    permission: 'conversation:read',
    status: 200,
    produces: 'text/plain',
    idempotency: 'idempotent',
    errors: [],
  },
  downloadTrajectory: {
    id: 'conversations.trajectory.get',
    method: 'GET',
    path: `${CONVERSATION}/trajectory`,
    summary: 'The whole log as one JSON array',
    permission: 'conversation:read',
    status: 200,
    produces: 'application/json',
    idempotency: 'idempotent',
    errors: [],
  },
  ...accountOperations,
  ...apiKeyOperations,
  ...serviceAccountOperations,
  ...deskOperations,
  ...credentialOperations,
  ...egressOperations,
  ...deviceOperations,
  ...orgOperations,
  ...memberOperations,
  ...openHandsOperations,
  ...openHandsSandboxOperations,
  ...integrationOperations,
  ...integrationAppOperations,
  ...integrationHookOperations,
  ...linkedAccountOperations,
  ...connectionAuthorizationOperations,
  ...repositoryOperations,
  ...suggestedTaskOperations,
  ...callbackOperations,
  ...invitationOperations,
  ...domainOperations,
  ...confirmationOperations,
  ...changesOperations,
  ...checkpointOperations,
  ...pullRequestOperations,
  ...reviewOperations,
  ...conversationControlOperations,
  ...messageQueueOperations,
  ...attachmentOperations,
  ...promptOperations,
  ...conversationModelOperations,
  ...editConversationOperations,
  ...securityOperations,
  ...auditOperations,
  ...secretOperations,
  ...modelHealthOperations,
  ...promptLogOperations,
  ...settingsOperations,
  ...adminUsageOperations,
  ...storageOperations,
  ...lookupOperations,
  ...traceOperations,
  ...outcomeOperations,
  ...analyticsOperations,
} as const satisfies Record<string, Operation>;
export type OperationName = keyof typeof operations;

/** What a caller sends as the query or the body of an operation, before defaults; `undefined` where it has none. */
export type OperationQuery<N extends OperationName> = (typeof operations)[N] extends {
  readonly query: infer S extends z.ZodType;
}
  ? z.input<S>
  : undefined;
export type OperationBody<N extends OperationName> = (typeof operations)[N] extends {
  readonly body: infer S extends z.ZodType;
}
  ? z.input<S>
  : undefined;
/** What an operation answers, as JSON; `undefined` for a 204 or a download. */
export type OperationResponse<N extends OperationName> = (typeof operations)[N] extends {
  readonly response: infer S extends z.ZodType;
}
  ? z.output<S>
  : undefined;
