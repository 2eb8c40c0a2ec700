import { pageOf } from '../conversations/conversations.js';
import {
  ApiKey,
  ChangeApiKey,
  CreateApiKey,
  CreatedApiKey,
  ListApiKeysQuery,
  RotateApiKey,
} from '../identity/api-keys.js';
import type { Operation } from './operation.js';

const KEYS = '/api/v1/orgs/{org}/api-keys';
const KEY = `${KEYS}/{key}`;

export const apiKeyOperations = {
  listApiKeys: {
    id: 'api-keys.list',
    method: 'GET',
    path: KEYS,
    summary: 'API keys, newest first: the caller’s own, or with `?all=true` those of all users',
    permission: 'api-key:read',
    status: 200,
    query: ListApiKeysQuery,
    response: pageOf(ApiKey),
    idempotency: 'idempotent',
    errors: [],
  },
  createApiKey: {
    id: 'api-keys.create',
    method: 'POST',
    path: KEYS,
    summary: 'A new API key; its token is in this answer and nowhere else',
    permission: 'api-key:write',
    status: 201,
    body: CreateApiKey,
    response: CreatedApiKey,
    // Not keyed: a stored answer would be a stored token.
    idempotency: 'none',
    errors: ['request.not-json', 'request.cross-site', 'api-key.scope-too-wide', 'api-key.limit'],
  },
  getApiKey: {
    id: 'api-keys.get',
    method: 'GET',
    path: KEY,
    summary: 'One API key',
    permission: 'api-key:read',
    status: 200,
    response: ApiKey,
    idempotency: 'idempotent',
    errors: [],
  },
  changeApiKey: {
    id: 'api-keys.change',
    method: 'PATCH',
    path: KEY,
    summary: 'Another name for the key',
    permission: 'api-key:write',
    status: 200,
    body: ChangeApiKey,
    response: ApiKey,
    idempotency: 'idempotent',
    errors: ['request.not-json', 'request.cross-site'],
  },
  revokeApiKey: {
    id: 'api-keys.delete',
    method: 'DELETE',
    path: KEY,
    summary: 'Revoke the key: within two seconds it opens nothing, and what is open with it ends',
    permission: 'api-key:write',
    status: 204,
    idempotency: 'idempotent',
    errors: ['request.cross-site'],
  },
  rotateApiKey: {
    id: 'api-keys.rotate',
    method: 'POST',
    path: `${KEY}/rotate`,
    summary:
      'A new key in the place of this one, which goes on for the overlap; the new token is in this answer and nowhere else',
    permission: 'api-key:write',
    status: 201,
    body: RotateApiKey,
    response: CreatedApiKey,
    // Not keyed: a stored answer would be a stored token.
    idempotency: 'none',
    errors: ['request.not-json', 'request.cross-site', 'api-key.not-live', 'api-key.scope-too-wide'],
  },
} as const satisfies Record<string, Operation>;
