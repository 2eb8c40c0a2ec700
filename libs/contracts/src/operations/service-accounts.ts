import { pageOf } from '../conversations/conversations.js';
import {
  ChangeServiceAccount,
  CreateServiceAccount,
  ListServiceAccountsQuery,
  ServiceAccount,
} from '../identity/service-accounts.js';
import type { Operation } from './operation.js';

const ACCOUNTS = '/api/v1/orgs/{org}/service-accounts';
const ACCOUNT = `${ACCOUNTS}/{account}`;

export const serviceAccountOperations = {
  listServiceAccounts: {
    id: 'service-accounts.list',
    method: 'GET',
    path: ACCOUNTS,
    summary: 'Service accounts, newest first',
    permission: 'service-account:read',
    status: 200,
    query: ListServiceAccountsQuery,
    response: pageOf(ServiceAccount),
    idempotency: 'idempotent',
    errors: [],
  },
  createServiceAccount: {
    id: 'service-accounts.create',
    method: 'POST',
    path: ACCOUNTS,
    summary: 'A new service account; its keys are made with `POST …/api-keys {serviceAccountId}`',
    permission: 'service-account:write',
    status: 201,
    body: CreateServiceAccount,
    response: ServiceAccount,
    idempotency: 'keyed',
    errors: [
      'request.not-json',
      'request.cross-site',
      'idempotency.mismatch',
      'idempotency.in-progress',
      'service-account.role-too-high',
      'service-account.limit',
    ],
  },
  getServiceAccount: {
    id: 'service-accounts.get',
    method: 'GET',
    path: ACCOUNT,
    summary: 'One service account',
    permission: 'service-account:read',
    status: 200,
    response: ServiceAccount,
    idempotency: 'idempotent',
    errors: [],
  },
  changeServiceAccount: {
    id: 'service-accounts.change',
    method: 'PATCH',
    path: ACCOUNT,
    summary: 'Another name or role; its keys follow within two seconds',
    permission: 'service-account:write',
    status: 200,
    body: ChangeServiceAccount,
    response: ServiceAccount,
    idempotency: 'idempotent',
    errors: ['request.not-json', 'request.cross-site', 'service-account.role-too-high'],
  },
  deleteServiceAccount: {
    id: 'service-accounts.delete',
    method: 'DELETE',
    path: ACCOUNT,
    summary: 'Delete the account and revoke every key of it',
    permission: 'service-account:write',
    status: 204,
    idempotency: 'idempotent',
    errors: ['request.cross-site'],
  },
} as const satisfies Record<string, Operation>;
