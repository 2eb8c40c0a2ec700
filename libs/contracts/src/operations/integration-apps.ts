import {
  InstallApp,
  InstallationBegun,
  InstallPlatformApp,
  RegisterApp,
  RegistrationBegun,
  ReplaceAppSecrets,
} from '../integrations/integration-apps.js';
import { IntegrationConnection } from '../integrations/integrations.js';
import type { Operation } from './operation.js';

const INTEGRATIONS = '/api/v1/orgs/{org}/integrations';
const INSTALLATION = `${INTEGRATIONS}/connections/{connection}/installation`;
const CHANGE = ['request.not-json', 'request.too-large', 'request.cross-site'] as const;

/** Apps of providers: registered and installed by an admin's own browser. */
export const integrationAppOperations = {
  registerIntegrationApp: {
    id: 'integrations.apps.register',
    method: 'POST',
    path: `${INTEGRATIONS}/apps`,
    summary: 'Begin to register an app of the organization at the provider; this browser finishes it',
    permission: 'integration:write',
    proof: 'session',
    status: 201,
    body: RegisterApp,
    response: RegistrationBegun,
    idempotency: 'none',
    errors: [...CHANGE, 'integration.apps-unsupported', 'integration.too-many', 'settings.url-refused'],
  },
  installPlatformApp: {
    id: 'integrations.apps.install-platform',
    method: 'POST',
    path: `${INTEGRATIONS}/installations`,
    summary: 'Begin to install the platform’s app; this browser finishes it',
    permission: 'integration:write',
    proof: 'session',
    status: 201,
    body: InstallPlatformApp,
    response: InstallationBegun,
    idempotency: 'none',
    errors: [...CHANGE, 'integration.apps-unsupported', 'integration.too-many'],
  },
  installIntegrationApp: {
    id: 'integrations.apps.install',
    method: 'POST',
    path: INSTALLATION,
    summary: 'Begin to install the app of a connection, or to confirm its installation; this browser finishes it',
    permission: 'integration:write',
    proof: 'session',
    status: 201,
    body: InstallApp,
    response: InstallationBegun,
    idempotency: 'none',
    errors: [...CHANGE, 'integration.apps-unsupported'],
  },
  releaseIntegrationApp: {
    id: 'integrations.apps.release',
    method: 'DELETE',
    path: INSTALLATION,
    summary:
      'Give the account of the installation up, so that another connection, of whichever organization, can claim it',
    permission: 'integration:write',
    status: 200,
    response: IntegrationConnection,
    idempotency: 'idempotent',
    errors: ['request.cross-site', 'integration.apps-unsupported'],
  },
  replaceIntegrationAppSecrets: {
    id: 'integrations.apps.replace-secrets',
    method: 'PUT',
    path: `${INTEGRATIONS}/connections/{connection}/app-secrets`,
    summary: 'Replace private key or client secret of an app of the organization, once the provider takes the new one',
    permission: 'integration:write',
    status: 200,
    body: ReplaceAppSecrets,
    response: IntegrationConnection,
    idempotency: 'idempotent',
    errors: [
      ...CHANGE,
      'integration.apps-unsupported',
      'integration.no-secret',
      'integration.provider-away',
      'integration.provider-refused',
    ],
  },
  refreshIntegrationApp: {
    id: 'integrations.apps.refresh',
    method: 'POST',
    path: `${INSTALLATION}/refresh`,
    summary: 'Ask the provider for account, permissions and repositories of the installation now',
    permission: 'integration:write',
    status: 200,
    response: IntegrationConnection,
    idempotency: 'idempotent',
    errors: [
      'request.cross-site',
      'integration.apps-unsupported',
      'integration.not-installed',
      'integration.provider-away',
      'integration.provider-refused',
    ],
  },
} as const satisfies Record<string, Operation>;
