import {
  Checkpoint,
  CheckpointPage,
  EditCheckpoint,
  ForkConversation,
  ListCheckpointsQuery,
} from '../conversations/checkpoints.js';
import { Conversation } from '../conversations/conversations.js';
import type { Operation } from './operation.js';

const CHECKPOINTS = '/api/v1/orgs/{org}/conversations/{conversation}/checkpoints';

/** The files of a conversation at points of its log. */
export const checkpointOperations = {
  listCheckpoints: {
    id: 'conversations.checkpoints.list',
    method: 'GET',
    path: CHECKPOINTS,
    summary: 'Points of a conversation whose files are kept, newest first',
    permission: 'conversation:read',
    status: 200,
    query: ListCheckpointsQuery,
    response: CheckpointPage,
    idempotency: 'idempotent',
    errors: [],
  },
  forkConversation: {
    id: 'conversations.forks.create',
    method: 'POST',
    path: '/api/v1/orgs/{org}/conversations/{conversation}/forks',
    summary: 'Fork one of the caller’s conversations: another one with its log and files up to a checkpoint',
    permission: 'conversation:create',
    limit: 'starts',
    status: 201,
    body: ForkConversation,
    response: Conversation,
    idempotency: 'keyed',
    errors: [
      'request.not-json',
      'request.too-large',
      'request.cross-site',
      'model.unknown',
      'budget.exhausted',
      'storage.exhausted',
      'repository.unknown',
      'repository.ambiguous',
      'fork.no-point',
      'service.unavailable',
    ],
  },
  editCheckpoint: {
    id: 'conversations.checkpoints.update',
    method: 'PATCH',
    path: `${CHECKPOINTS}/{checkpoint}`,
    summary: 'Name a checkpoint, which keeps it as long as the conversation; `null` takes the name away',
    permission: 'conversation:write',
    status: 200,
    body: EditCheckpoint,
    response: Checkpoint,
    idempotency: 'idempotent',
    errors: ['request.not-json', 'request.too-large', 'request.cross-site'],
  },
  deleteCheckpoint: {
    id: 'conversations.checkpoints.delete',
    method: 'DELETE',
    path: `${CHECKPOINTS}/{checkpoint}`,
    summary: 'Delete a checkpoint: its files cannot be gone back to any more',
    permission: 'conversation:write',
    status: 204,
    idempotency: 'idempotent',
    errors: ['request.cross-site', 'checkpoint.forked'],
  },
} as const satisfies Record<string, Operation>;
