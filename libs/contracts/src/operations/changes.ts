import {
  Changes,
  DiffQuery,
  ListChangesQuery,
  MarkLooked,
  Provenance,
  ProvenanceQuery,
  WorkspaceCommits,
  WorkspaceCommitsQuery,
  WorkspaceRepositories,
} from '../repositories/changes.js';
import { TurnHunk } from '../repositories/turn-hunk.js';
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

const OF_CHANGES = [
  ...NEEDS_SANDBOX,
  'changes.turn-unknown',
  'changes.look-unknown',
  'changes.commit-unknown',
  'file.too-large',
] as const;
const CHANGE = ['request.not-json', 'request.too-large', 'request.cross-site'] as const;

export const changesOperations = {
  getChanges: {
    id: 'conversations.changes.get',
    method: 'GET',
    path: `${CONVERSATION}/changes`,
    summary:
      'Files that the agent changed: since the work began, since the last message, since the caller looked, or with one commit',
    permission: 'conversation:read',
    status: 200,
    query: ListChangesQuery,
    response: Changes,
    idempotency: 'idempotent',
    errors: [...OF_CHANGES],
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
    errors: [...OF_CHANGES],
  },
  turnHunk: {
    id: 'conversations.changes.turn-hunk',
    method: 'POST',
    path: `${CONVERSATION}/changes/turn-hunk`,
    summary: 'Take back one hunk of the changes, or put it back, with a line in the agent’s log; not while it works',
    permission: 'conversation:write',
    status: 204,
    body: TurnHunk,
    idempotency: 'keyed',
    errors: [
      ...CHANGE,
      'idempotency.mismatch',
      'idempotency.in-progress',
      'conversation.not-running',
      'conversation.busy',
      'sandbox.unreachable',
      'repository.not-found',
      'changes.moved',
      'file.too-large',
    ],
  },
  markLooked: {
    id: 'conversations.changes.looked',
    method: 'PUT',
    path: `${CONVERSATION}/changes/looked`,
    summary: 'Say that the caller has looked at the changes as they are now; `against=looked` compares with it',
    permission: 'conversation:read',
    status: 204,
    body: MarkLooked,
    idempotency: 'idempotent',
    errors: [...CHANGE, 'conversation.no-workspace', 'changes.not-kept', 'sandbox.unreachable', 'changes.moved'],
  },
  getProvenance: {
    id: 'conversations.changes.provenance',
    method: 'GET',
    path: `${CONVERSATION}/provenance`,
    summary: 'Which steps of the log wrote which lines of a file, as far as edit tools of the agent did',
    permission: 'conversation:read',
    status: 200,
    query: ProvenanceQuery,
    response: Provenance,
    idempotency: 'idempotent',
    errors: [],
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
