import { Done } from '../openhands/openhands.js';
import {
  DeleteSandboxQuery,
  GetSandboxesQuery,
  SandboxInfo,
  SandboxInfoList,
  SandboxPage,
  SandboxSecretNames,
  SandboxSecretNamesQuery,
  SandboxUser,
  SandboxUserQuery,
  SearchSandboxesQuery,
  StartSandboxQuery,
} from '../openhands/openhands-sandboxes.js';
import type { Operation } from './operation.js';

const SANDBOXES = '/api/v1/sandboxes';
const SANDBOX = `${SANDBOXES}/{sandbox}`;

/**
 * What `OpenHandsCloudWorkspace` of OpenHands' SDK calls, about conversations of the organization of `X-Org-Id`, else
 * of the key, else the personal one.
 */
export const openHandsSandboxOperations = {
  startSandbox: {
    id: 'sandboxes.start',
    method: 'POST',
    path: SANDBOXES,
    summary:
      'As OpenHands: a sandbox without a task, for a client that brings its own agent; a conversation without messages',
    permission: 'conversation:create',
    limit: 'starts',
    status: 200,
    query: StartSandboxQuery,
    response: SandboxInfo,
    idempotency: 'keyed',
    errors: ['request.cross-site', 'model.unknown', 'budget.exhausted', 'storage.exhausted'],
  },
  getSandboxes: {
    id: 'sandboxes.get',
    method: 'GET',
    path: SANDBOXES,
    summary: 'As OpenHands: the sandboxes of conversations by their ids, `null` for each that there is not',
    permission: 'conversation:read',
    status: 200,
    query: GetSandboxesQuery,
    response: SandboxInfoList,
    idempotency: 'idempotent',
    errors: [],
  },
  searchSandboxes: {
    id: 'sandboxes.search',
    method: 'GET',
    path: `${SANDBOXES}/search`,
    summary: 'As OpenHands: the sandboxes of conversations that the caller started, newest first, without their keys',
    permission: 'conversation:read',
    status: 200,
    query: SearchSandboxesQuery,
    response: SandboxPage,
    idempotency: 'idempotent',
    errors: [],
  },
  pauseSandbox: {
    id: 'sandboxes.pause',
    method: 'POST',
    path: `${SANDBOX}/pause`,
    summary: 'As OpenHands: halt, keep the workspace and give the sandbox back',
    permission: 'conversation:write',
    status: 200,
    response: Done,
    idempotency: 'idempotent',
    errors: ['request.cross-site'],
  },
  resumeSandbox: {
    id: 'sandboxes.resume',
    method: 'POST',
    path: `${SANDBOX}/resume`,
    summary: 'As OpenHands: a sandbox with the same workspace',
    permission: 'conversation:write',
    limit: 'starts',
    status: 200,
    response: Done,
    idempotency: 'idempotent',
    errors: ['request.cross-site'],
  },
  deleteSandbox: {
    id: 'sandboxes.delete',
    method: 'DELETE',
    path: SANDBOX,
    summary:
      'As OpenHands: releases the sandbox at once and ends all access; its conversation stays, and can be resumed. Needs sandbox:access too, and sandbox:stop for a sandbox that another user started',
    permission: 'conversation:write',
    status: 200,
    query: DeleteSandboxQuery,
    response: Done,
    idempotency: 'idempotent',
    errors: ['request.cross-site'],
  },
  getSandboxUser: {
    id: 'sandboxes.user',
    method: 'GET',
    path: '/api/v1/users/me',
    summary: 'As OpenHands: the model, without its key, that a client’s own agent in a sandbox works with',
    permission: 'conversation:read',
    status: 200,
    query: SandboxUserQuery,
    response: SandboxUser,
    idempotency: 'idempotent',
    errors: ['model.unknown'],
  },
  listSandboxSecrets: {
    id: 'sandboxes.secrets',
    method: 'GET',
    path: `${SANDBOX}/settings/secrets`,
    summary:
      'As OpenHands: the names of the secrets that commands of a sandbox have, for who holds its key (`X-Session-API-Key`); never a value',
    permission: null,
    anonymous: true,
    status: 200,
    query: SandboxSecretNamesQuery,
    response: SandboxSecretNames,
    idempotency: 'idempotent',
    errors: [],
  },
} as const satisfies Record<string, Operation>;
