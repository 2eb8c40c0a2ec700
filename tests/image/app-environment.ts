import { generateKeyPairSync } from 'node:crypto';
import type { TestDatabase } from '@slipway/testing';
import type { AppName } from '../../deploy/images/apps/app-list.ts';

const secret = 'x'.repeat(40);
const nowhere = 'http://127.0.0.1:9';

/** What each app needs to start and answer /alive, with nothing beside it but Postgres. */
export function appEnvironment(app: AppName, { urls }: TestDatabase): Readonly<Record<string, string>> {
  const model = { LLM_GATEWAY_URL: nowhere, LLM_GATEWAY_MASTER_KEY: secret };
  const environments: Readonly<Record<AppName, Readonly<Record<string, string>>>> = {
    'app-server': {
      ...model,
      DATABASE_URL: urls.app,
      PUBLIC_URL: 'https://slipway.test',
      OIDC_ISSUER_URL: 'https://identity.test/realms/slipway',
      OIDC_CLIENT_SECRET: secret,
      SESSION_SECRET: secret,
      ENCRYPTION_KEY: secret,
      INGEST_SECRET: secret,
    },
    worker: {
      ...model,
      DATABASE_URL: urls.app,
      ENCRYPTION_KEY: secret,
      INGEST_SECRET: secret,
      RUNTIME_API_URL: nowhere,
      RUNTIME_API_KEY: secret,
      SANDBOX_INGEST_URL: nowhere,
      SANDBOX_LLM_URL: nowhere,
    },
    'runtime-api': {
      // Without a cluster; the backend that needs none refuses production.
      NODE_ENV: 'test',
      SANDBOX_BACKEND: 'process',
      PROCESS_BACKEND_DIR: '/tmp/sandboxes',
      AGENT_SERVER_COMMAND: '["node"]',
      ACTION_SERVER_COMMAND: '["node"]',
      POOL_TARGET: '0',
      DATABASE_URL: urls.runtime,
      RUNTIME_API_KEY: secret,
      ENCRYPTION_KEY: secret,
      ACTIVATION_PRIVATE_KEY: generateKeyPairSync('ed25519')
        .privateKey.export({ type: 'pkcs8', format: 'der' })
        .toString('base64'),
    },
    'llm-gateway': { DATABASE_URL: urls.gateway, LLM_GATEWAY_MASTER_KEY: secret, DATA_DIR: '/tmp/gateway' },
    'sandbox-gateway': {},
    'egress-proxy': { EGRESS_PORT: '0', EGRESS_SECRET: secret, EGRESS_RULES: '{}' },
    'credential-broker': {
      BROKER_PORT: '0',
      BROKER_SECRET: secret,
      CREDENTIAL_CONTROL_URL: nowhere,
      CREDENTIAL_CONTROL_SECRET: secret,
      BROKER_CA_FILE: '/tmp/ca.crt',
      BROKER_CA_KEY_FILE: '/tmp/ca.key',
    },
    web: {},
  };
  return environments[app];
}
