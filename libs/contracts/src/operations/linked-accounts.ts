import {
  BeginLink,
  LinkBegun,
  LinkedAccount,
  LinkedAccountList,
  OAuthClient,
  SetOAuthClient,
} from '../identity/linked-accounts.js';
import type { Operation } from './operation.js';

const MINE = '/api/v1/me/linked-accounts';
const CLIENT = '/api/v1/orgs/{org}/integrations/connections/{connection}/oauth-client';
const CHANGE = ['request.not-json', 'request.too-large', 'request.cross-site'] as const;

/** Accounts of users at providers, and the OAuth clients by which they are linked. */
export const linkedAccountOperations = {
  getOAuthClient: {
    id: 'integrations.oauth-client.get',
    method: 'GET',
    path: CLIENT,
    summary: 'The OAuth client of a connection without its secret, and the callback address to enter at the provider',
    permission: 'integration:read',
    status: 200,
    response: OAuthClient,
    idempotency: 'idempotent',
    errors: ['integration.oauth-unsupported'],
  },
  setOAuthClient: {
    id: 'integrations.oauth-client.set',
    method: 'PUT',
    path: CLIENT,
    summary: 'Enter the OAuth client by which users link their accounts; it replaces the one before',
    permission: 'integration:write',
    status: 200,
    body: SetOAuthClient,
    response: OAuthClient,
    idempotency: 'idempotent',
    errors: [...CHANGE, 'integration.oauth-unsupported', 'settings.url-refused'],
  },
  deleteOAuthClient: {
    id: 'integrations.oauth-client.delete',
    method: 'DELETE',
    path: CLIENT,
    summary: 'Forget the OAuth client; accounts that are linked stay linked',
    permission: 'integration:write',
    status: 204,
    idempotency: 'idempotent',
    errors: ['request.cross-site'],
  },
  listLinkedAccounts: {
    id: 'me.linked-accounts.list',
    method: 'GET',
    path: MINE,
    summary: 'My accounts at providers, what waits for my confirmation, and where I can link another',
    permission: null,
    status: 200,
    response: LinkedAccountList,
    idempotency: 'idempotent',
    errors: [],
  },
  beginLink: {
    id: 'me.linked-accounts.begin',
    method: 'POST',
    path: MINE,
    summary: 'Begin to link my account at the provider of a connection; this browser finishes it',
    permission: null,
    status: 201,
    body: BeginLink,
    response: LinkBegun,
    idempotency: 'none',
    errors: [...CHANGE, 'integration.oauth-unsupported', 'integration.no-oauth-client'],
  },
  confirmLink: {
    id: 'me.linked-accounts.confirm',
    method: 'POST',
    path: `${MINE}/{link}/confirm`,
    summary: 'Link the account that the provider has named, in the session that began it',
    permission: null,
    status: 200,
    response: LinkedAccount,
    idempotency: 'idempotent',
    errors: ['request.cross-site', 'linked-account.taken', 'linked-account.exists'],
  },
  deleteLinkedAccount: {
    id: 'me.linked-accounts.delete',
    method: 'DELETE',
    path: `${MINE}/{link}`,
    summary: 'Unlink an account, or give up one that waits for confirmation',
    permission: null,
    status: 204,
    idempotency: 'idempotent',
    errors: ['request.cross-site'],
  },
} as const satisfies Record<string, Operation>;
