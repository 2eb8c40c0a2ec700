import {
  InstallIntegrationHook,
  IntegrationHook,
  IntegrationHookList,
  SelectIntegrationHooks,
} from '../integrations/integration-hooks.js';
import type { Operation } from './operation.js';

const HOOKS = '/api/v1/orgs/{org}/integrations/connections/{connection}/hooks';
const ASKS = [
  'request.cross-site',
  'integration.provider-away',
  'integration.provider-refused',
  'settings.url-refused',
] as const;

/** Webhooks that Slipway makes at git hosts. */
export const integrationHookOperations = {
  listIntegrationHooks: {
    id: 'integrations.hooks.list',
    method: 'GET',
    path: HOOKS,
    summary: 'Webhooks that Slipway has made with the access token of a connection, by repository',
    permission: 'integration:read',
    status: 200,
    response: IntegrationHookList,
    idempotency: 'idempotent',
    errors: [],
  },
  installIntegrationHook: {
    id: 'integrations.hooks.install',
    method: 'POST',
    path: HOOKS,
    summary: 'Make the webhook of a repository at the git host, or repair the one that is there',
    permission: 'integration:write',
    status: 200,
    body: InstallIntegrationHook,
    response: IntegrationHook,
    // The hook is found by its address: asked twice, there is one.
    idempotency: 'idempotent',
    errors: [
      ...ASKS,
      'request.not-json',
      'request.too-large',
      'integration.no-token',
      'integration.no-secret',
      'integration.hooks-unsupported',
      'integration.too-many-hooks',
    ],
  },
  selectIntegrationHooks: {
    id: 'integrations.hooks.select',
    method: 'PUT',
    path: HOOKS,
    summary: 'Choose by patterns which repositories get a webhook, which is then made in the background',
    permission: 'integration:write',
    status: 200,
    body: SelectIntegrationHooks,
    response: IntegrationHookList,
    idempotency: 'idempotent',
    errors: [
      'request.cross-site',
      'request.not-json',
      'request.too-large',
      'integration.no-token',
      'integration.no-secret',
      'integration.hooks-unsupported',
    ],
  },
  repairIntegrationHooks: {
    id: 'integrations.hooks.repair',
    method: 'POST',
    path: `${HOOKS}/repair`,
    summary:
      'Make every webhook of the connection again, in the background, with the address, events and secret of now',
    permission: 'integration:write',
    status: 202,
    response: IntegrationHookList,
    idempotency: 'idempotent',
    errors: ['request.cross-site', 'integration.no-token', 'integration.no-secret', 'integration.hooks-unsupported'],
  },
  removeIntegrationHook: {
    id: 'integrations.hooks.remove',
    method: 'DELETE',
    path: `${HOOKS}/{hook}`,
    summary: 'Remove the webhook at the git host',
    permission: 'integration:write',
    status: 204,
    idempotency: 'idempotent',
    errors: [...ASKS, 'integration.no-token', 'integration.hooks-unsupported'],
  },
} as const satisfies Readonly<Record<string, Operation>>;
