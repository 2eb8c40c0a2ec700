import { LinkBegun } from '../identity/linked-accounts.js';
import { PendingAuthorization } from '../integrations/connection-authorization.js';
import { IntegrationConnection } from '../integrations/integrations.js';
import type { Operation } from './operation.js';

const CONNECTION = '/api/v1/orgs/{org}/integrations/connections/{connection}';
const AUTHORIZATION = `${CONNECTION}/authorizations/{authorization}`;

/** How an admin connects an organization by OAuth, and gives that up. */
export const connectionAuthorizationOperations = {
  beginConnectionAuthorization: {
    id: 'integrations.authorizations.begin',
    method: 'POST',
    path: `${CONNECTION}/authorizations`,
    summary: 'Begin to connect by OAuth with the client of the connection; this browser finishes it',
    permission: 'integration:write',
    proof: 'session',
    status: 201,
    response: LinkBegun,
    idempotency: 'none',
    errors: [
      'request.cross-site',
      'integration.authorization-unsupported',
      'integration.no-oauth-client',
      'settings.url-refused',
    ],
  },
  getConnectionAuthorization: {
    id: 'integrations.authorizations.get',
    method: 'GET',
    path: AUTHORIZATION,
    summary: 'What the provider has said about an authorization that waits for confirmation in this session',
    permission: 'integration:write',
    proof: 'session',
    status: 200,
    response: PendingAuthorization,
    idempotency: 'idempotent',
    errors: [],
  },
  confirmConnectionAuthorization: {
    id: 'integrations.authorizations.confirm',
    method: 'POST',
    path: `${AUTHORIZATION}/confirm`,
    summary: 'Have the connection act as the account that the provider has named; what it had before is given back',
    permission: 'integration:write',
    proof: 'session',
    status: 200,
    response: IntegrationConnection,
    idempotency: 'none',
    errors: ['request.cross-site'],
  },
  declineConnectionAuthorization: {
    id: 'integrations.authorizations.decline',
    method: 'DELETE',
    path: AUTHORIZATION,
    summary: 'Give up an authorization that waits for confirmation; its tokens are given back',
    permission: 'integration:write',
    proof: 'session',
    status: 204,
    idempotency: 'idempotent',
    errors: ['request.cross-site'],
  },
  deleteConnectionCredential: {
    id: 'integrations.credential.delete',
    method: 'DELETE',
    path: `${CONNECTION}/credential`,
    summary: 'Disconnect: forget the credential of a connection, and give tokens of OAuth back to the provider',
    permission: 'integration:write',
    status: 204,
    idempotency: 'idempotent',
    errors: ['request.cross-site'],
  },
} as const satisfies Record<string, Operation>;
