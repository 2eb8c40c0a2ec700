import {
  CreateCredential,
  Credential,
  CredentialPage,
  ListCredentialsQuery,
  UpdateCredential,
  WithheldSecrets,
} from '../credentials/credentials.js';
import { CredentialUses } from '../credentials/use-tallies.js';
import type { ErrorCode } from '../errors/error-codes.js';
import type { Operation } from './operation.js';

const CREDENTIALS = '/api/v1/orgs/{org}/credentials';
const CREDENTIAL = `${CREDENTIALS}/{credential}`;
const CHANGE = [
  'request.not-json',
  'request.too-large',
  'request.cross-site',
  'credential.place-refused',
] as const satisfies readonly ErrorCode[];

/** Brokered credentials of an organization. None of them ever answers a value. */
export const credentialOperations = {
  listCredentials: {
    id: 'credentials.list',
    method: 'GET',
    path: CREDENTIALS,
    summary: 'Brokered credentials by name: where they are used and when they last were, never what they are',
    permission: 'credential:read',
    status: 200,
    query: ListCredentialsQuery,
    response: CredentialPage,
    idempotency: 'idempotent',
    errors: [],
  },
  createCredential: {
    id: 'credentials.create',
    method: 'POST',
    path: CREDENTIALS,
    summary: 'Keep a credential that agents use at its places and never have; its value is new, or moves from a secret',
    permission: 'credential:write',
    status: 201,
    body: CreateCredential,
    response: Credential,
    // Not keyed: the hash of a body with a value in it would be kept.
    idempotency: 'none',
    errors: [...CHANGE, 'credential.name-taken', 'credential.too-many', 'credential.unavailable', 'secret.unreadable'],
  },
  previewBrokeredOnly: {
    id: 'credentials.preview',
    method: 'GET',
    path: `${CREDENTIALS}/preview`,
    summary: 'Secrets that sandboxes would no longer be given with the setting secretsInSandbox: brokered-only',
    permission: 'secret:read',
    status: 200,
    response: WithheldSecrets,
    idempotency: 'idempotent',
    errors: [],
  },
  getCredential: {
    id: 'credentials.get',
    method: 'GET',
    path: CREDENTIAL,
    summary: 'One brokered credential, without its value',
    permission: 'credential:read',
    status: 200,
    response: Credential,
    idempotency: 'idempotent',
    errors: [],
  },
  getCredentialUses: {
    id: 'credentials.uses',
    method: 'GET',
    path: `${CREDENTIAL}/uses`,
    summary: 'How often a credential was used in the last 90 days, by which conversations and at which places',
    permission: 'credential:read',
    status: 200,
    response: CredentialUses,
    idempotency: 'idempotent',
    errors: [],
  },
  updateCredential: {
    id: 'credentials.update',
    method: 'PATCH',
    path: CREDENTIAL,
    summary: 'Another value, description or use, or use a resting one again; counts for the next request of an agent',
    permission: 'credential:write',
    status: 200,
    body: UpdateCredential,
    response: Credential,
    idempotency: 'idempotent',
    errors: CHANGE,
  },
  deleteCredential: {
    id: 'credentials.delete',
    method: 'DELETE',
    path: CREDENTIAL,
    summary: 'Delete a credential; agents use it no more within a second',
    permission: 'credential:write',
    status: 204,
    idempotency: 'idempotent',
    errors: ['request.cross-site'],
  },
} as const satisfies Record<string, Operation>;
