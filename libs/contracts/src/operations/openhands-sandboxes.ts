import { Done } from '../openhands.js';
import { DeleteSandboxQuery, GetSandboxesQuery, SandboxInfo, SandboxInfoList, StartSandboxQuery } from '../openhands-sandboxes.js';
import type { Operation } from '../operations.js';

const SANDBOXES = '/api/v1/sandboxes';
const SANDBOX = `${SANDBOXES}/{sandbox}`;

/** What `OpenHandsCloudWorkspace` of OpenHands' SDK calls, about conversations of the organization of `X-Org-Id`, else of the key, else the personal one. */
export const openHandsSandboxOperations = {
  startSandbox: {
    id: 'sandboxes.start',
    method: 'POST',
    path: SANDBOXES,
    summary: 'As OpenHands: a sandbox without a task, for a client that brings its own agent; a conversation that nobody has written to',
    permission: 'conversation:create',
    limit: 'starts',
    status: 200,
    query: StartSandboxQuery,
    response: SandboxInfo,
    idempotency: 'keyed',
    errors: ['request.cross-site', 'model.unknown', 'budget.exhausted'],
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
    summary: 'As OpenHands: the sandbox is given back at once and nobody is let in any more; its conversation stays, and can be resumed',
    permission: 'conversation:write',
    status: 200,
    query: DeleteSandboxQuery,
    response: Done,
    idempotency: 'idempotent',
    errors: ['request.cross-site'],
  },
} as const satisfies Record<string, Operation>;
