import {
  Changes,
  ChangesQuery,
  DiffQuery,
  WorkspaceCommits,
  WorkspaceCommitsQuery,
  WorkspaceRepositories,
} from '../repositories/changes.js';
import { OpenEditor } from '../sandboxes/vscode.js';
import type { Operation } from './operation.js';

const CONVERSATION = '/api/v1/orgs/{org}/conversations/{conversation}';
/** What only a sandbox that is there knows. */
const NEEDS_SANDBOX = [
  'conversation.no-workspace',
  'sandbox.unreachable',
  'changes.not-kept',
  'repository.not-found',
] as const;

export const changesOperations = {
  getChanges: {
    id: 'conversations.changes.get',
    method: 'GET',
    path: `${CONVERSATION}/changes`,
    summary: 'Files that the agent changed: since the work began, since the last message, or with one commit',
    permission: 'conversation:read',
    status: 200,
    query: ChangesQuery,
    response: Changes,
    idempotency: 'idempotent',
    errors: [...NEEDS_SANDBOX, 'changes.turn-unknown', 'changes.commit-unknown', 'file.too-large'],
  },
  downloadDiff: {
    id: 'conversations.diff.get',
    method: 'GET',
    path: `${CONVERSATION}/diff`,
    summary: 'The same changes as a patch for `git apply`; `?path=` for one file',
    permission: 'conversation:read',
    status: 200,
    query: DiffQuery,
    produces: 'text/x-diff',
    idempotency: 'idempotent',
    errors: [...NEEDS_SANDBOX, 'changes.turn-unknown', 'changes.commit-unknown', 'file.too-large'],
  },
  listRepositories: {
    id: 'conversations.repositories.list',
    method: 'GET',
    path: `${CONVERSATION}/repositories`,
    summary: 'Repositories of the workspace, each with its branch and state',
    permission: 'conversation:read',
    status: 200,
    response: WorkspaceRepositories,
    idempotency: 'idempotent',
    errors: [],
  },
  listCommits: {
    id: 'conversations.commits.list',
    method: 'GET',
    path: `${CONVERSATION}/commits`,
    summary: 'Commits of a repository of the workspace, newest first',
    permission: 'conversation:read',
    status: 200,
    query: WorkspaceCommitsQuery,
    response: WorkspaceCommits,
    idempotency: 'idempotent',
    errors: NEEDS_SANDBOX,
  },
  openEditor: {
    id: 'conversations.editor.open',
    method: 'POST',
    path: `${CONVERSATION}/editor`,
    summary: 'Start VS Code in the sandbox, where its image has it, and say where on its port it is',
    permission: 'sandbox:access',
    status: 200,
    response: OpenEditor,
    // Not keyed: a stored answer would be a stored token.
    idempotency: 'idempotent',
    errors: ['request.cross-site', 'conversation.no-workspace', 'sandbox.unreachable', 'sandbox.not-running'],
  },
} as const satisfies Record<string, Operation>;
