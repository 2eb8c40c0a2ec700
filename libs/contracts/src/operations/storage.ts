import { Storage } from '../sandboxes/storage.js';
import type { Operation } from './operation.js';

const ORG = '/api/v1/orgs/{org}';

/** What an organization keeps. */
export const storageOperations = {
  getStorage: {
    id: 'storage.get',
    method: 'GET',
    path: `${ORG}/storage`,
    summary: 'Storage that is used, by kind, its limit, and the largest conversations',
    permission: 'usage:read',
    status: 200,
    response: Storage,
    idempotency: 'idempotent',
    errors: [],
  },
} as const satisfies Record<string, Operation>;
