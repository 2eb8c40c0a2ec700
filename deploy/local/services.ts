import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { sandboxPlace } from './sandbox-place.ts';
import { type LocalService, METRICS_OFFSET, PORT_OFFSETS, ROOT, type Secrets } from './settings.ts';

export interface ServicePlan {
  readonly name: Exclude<LocalService, 'postgres'>;
  readonly entry: string;
  readonly readyPath: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface StackAddresses {
  readonly port: number;
  readonly dataDirectory: string;
  readonly databaseUrls: Readonly<Record<'app' | 'runtime' | 'gateway' | 'sandbox', string>>;
  /** `null`: queue and hints are on Postgres. */
  readonly redisUrl: string | null;
  /** `null`: the embedded one. */
  readonly oidcIssuerUrl: string | null;
}

const main = (app: string): string => path.join(ROOT, 'apps', app, 'bundle/main.js');

/** Variables of the caller that reach the services: set by a user to change the default. */
const PASSED_ON = [
  'PATH', 'HOME', 'LANG', 'TZ', 'LOG_LEVEL', 'LOG_JSON', 'LOG_JSON_LEVEL_KEY', 'DEBUG', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'NODE_USE_ENV_PROXY', 'NODE_EXTRA_CA_CERTS',
  'CLONE_TIMEOUT_SECONDS', 'SETUP_SCRIPT_TIMEOUT_SECONDS', 'LLM_FIRST_BYTE_TIMEOUT_SECONDS', 'LLM_SILENCE_TIMEOUT_SECONDS', 'SANDBOX_IDLE_TIMEOUT_SECONDS', 'MAX_ITERATIONS', 'POOL_TARGET', 'ORG_SANDBOX_LIMIT', 'DEMO_MODEL_DELAY_MS',
  'REQUIRE_VERIFIED_EMAIL', 'OIDC_SECOND_FACTOR_ACR', 'TERMS_URL', 'TERMS_VERSION', 'SMTP_URL', 'MAIL_FROM', 'ALLOW_PRIVATE_URLS', 'INTEGRATION_PRIVATE_HOSTS',
]; // biome-ignore format: a list reads better in lines

/** Variables that a file of models takes its keys from. What is wrong with the file the gateway says. */
function keysNamedIn(modelsFile: string | undefined): string[] {
  if (modelsFile === undefined || !existsSync(modelsFile)) return [];
  return [...readFileSync(modelsFile, 'utf8').matchAll(/"apiKeyEnv"\s*:\s*"(\w+)"/g)].flatMap(([, name]) => name ?? []);
}

/** Every process of the local stack with its whole environment, in the order in which they start. */
export function planServices(
  addresses: StackAddresses,
  secrets: Secrets,
  caller: Readonly<Record<string, string | undefined>>,
): ServicePlan[] {
  const at = (service: LocalService): string => `http://127.0.0.1:${addresses.port + PORT_OFFSETS[service]}`;
  const publicUrl = `http://localhost:${addresses.port}`;
  // Browsers take every name below localhost for this machine.
  const gatewayUrl = at('sandbox-gateway').replace('127.0.0.1', 'localhost');
  const issuer =
    addresses.oidcIssuerUrl ?? `${at('embedded-identity').replace('127.0.0.1', 'localhost')}/realms/slipway`;
  const shared: Record<string, string> = { NODE_ENV: 'development', HOST: '127.0.0.1' };
  for (const name of PASSED_ON) {
    const value = caller[name];
    if (value !== undefined) shared[name] = value;
  }
  const redis: Record<string, string> = addresses.redisUrl === null ? {} : { REDIS_URL: addresses.redisUrl };
  const clientSecret = caller['OIDC_CLIENT_SECRET'] ?? secrets.oidcClient;
  const service = (
    name: ServicePlan['name'],
    env: Record<string, string>,
    entry = main(name),
    readyPath = '/ready',
  ): ServicePlan => ({
    name,
    entry,
    readyPath,
    env: {
      ...shared,
      PORT: String(addresses.port + PORT_OFFSETS[name]),
      METRICS_PORT: String(addresses.port + METRICS_OFFSET + PORT_OFFSETS[name]),
      // Sandboxes in pods reach what listens on every address.
      METRICS_HOST: '127.0.0.1',
      ...env,
    },
  });
  const given = (...names: string[]): Record<string, string> =>
    Object.fromEntries(
      names.flatMap((name) => (caller[name] === undefined || caller[name] === '' ? [] : [[name, caller[name]]])),
    );
  const model = given(
    'LLM_BASE_URL',
    'LLM_API_KEY',
    'LLM_MODEL',
    'LLM_MODELS_FILE',
    'LLM_DEBUG_LOG_DIR',
    ...keysNamedIn(caller['LLM_MODELS_FILE']),
  );
  const analytics = given('POSTHOG_HOST', 'ANALYTICS_SECRET', 'DO_NOT_TRACK', 'FLAGS_PROVIDER');
  const apps = given('INTEGRATION_APPS', 'INTEGRATION_APP_SECRETS');
  const { hostAddress, env: place } = sandboxPlace(caller, addresses.dataDirectory);
  // Pods reach this machine by an address of its own; then what they call listens on every address.
  const seenBySandboxes: Record<string, string> = hostAddress === '127.0.0.1' ? {} : { HOST: '0.0.0.0' };
  const fromSandbox = (service: LocalService): string => at(service).replace('127.0.0.1', hostAddress);
  return [
    ...(addresses.oidcIssuerUrl === null
      ? [
          service(
            'embedded-identity',
            {
              ISSUER_URL: issuer,
              DATA_DIR: path.join(addresses.dataDirectory, 'identity'),
              OIDC_CLIENT_ID: 'slipway-web',
              OIDC_CLIENT_SECRET: clientSecret,
              REDIRECT_URI: `${publicUrl}/oauth/keycloak/callback`,
              POST_LOGOUT_REDIRECT_URI: `${publicUrl}/login`,
            },
            undefined,
            '/alive',
          ),
        ]
      : []),
    service('llm-gateway', {
      ...seenBySandboxes,
      DATABASE_URL: addresses.databaseUrls.gateway,
      LLM_GATEWAY_MASTER_KEY: secrets.gatewayMasterKey,
      DATA_DIR: path.join(addresses.dataDirectory, 'gateway'),
      ...model,
    }),
    service('runtime-api', {
      DATABASE_URL: addresses.databaseUrls.runtime,
      RUNTIME_API_KEY: secrets.runtimeApiKey,
      ENCRYPTION_KEY: secrets.encryption,
      ACTIVATION_PRIVATE_KEY: secrets.activationPrivateKey,
      ...place,
    }),
    service('app-server', {
      ...redis,
      ...apps,
      ...analytics,
      ...given('FLAGS'),
      ...seenBySandboxes,
      PUBLIC_URL: publicUrl,
      DATABASE_URL: addresses.databaseUrls.app,
      OIDC_ISSUER_URL: issuer,
      OIDC_CLIENT_ID: caller['OIDC_CLIENT_ID'] ?? 'slipway-web',
      OIDC_CLIENT_SECRET: clientSecret,
      SESSION_SECRET: secrets.session,
      ENCRYPTION_KEY: secrets.encryption,
      INGEST_SECRET: secrets.ingest,
      SANDBOX_ACCESS_SECRET: secrets.sandboxAccess,
      SANDBOX_GATEWAY_URL: gatewayUrl,
      WEB_URL: at('web'),
      // All users here are one developer, or a suite that polls a hundred times a second.
      RATE_READS_PER_MINUTE: '100000',
      RATE_WRITES_PER_MINUTE: '10000',
      RATE_STARTS_PER_MINUTE: '10000',
      RATE_ANONYMOUS_PER_MINUTE: '100000',
      RUNTIME_API_URL: at('runtime-api'),
      RUNTIME_API_KEY: secrets.runtimeApiKey,
      LLM_GATEWAY_URL: at('llm-gateway'),
      LLM_GATEWAY_MASTER_KEY: secrets.gatewayMasterKey,
    }),
    service('worker', {
      ...redis,
      ...apps,
      ...given('OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_HEADERS'),
      ...analytics,
      ...given('POSTHOG_KEY', 'POSTHOG_FLAGS_KEY', 'ANALYTICS_MODEL_CALLS'),
      PUBLIC_URL: publicUrl,
      DATABASE_URL: addresses.databaseUrls.app,
      ENCRYPTION_KEY: secrets.encryption,
      INGEST_SECRET: secrets.ingest,
      RUNTIME_API_URL: at('runtime-api'),
      RUNTIME_API_KEY: secrets.runtimeApiKey,
      LLM_GATEWAY_URL: at('llm-gateway'),
      LLM_GATEWAY_MASTER_KEY: secrets.gatewayMasterKey,
      SANDBOX_INGEST_URL: fromSandbox('app-server'),
      SANDBOX_LLM_URL: fromSandbox('llm-gateway'),
    }),
    service('sandbox-gateway', {
      PUBLIC_URL: publicUrl,
      SANDBOX_GATEWAY_URL: gatewayUrl,
      SANDBOX_ACCESS_SECRET: secrets.sandboxAccess,
      DATABASE_URL: addresses.databaseUrls.sandbox,
      RUNTIME_API_URL: at('runtime-api'),
      RUNTIME_API_KEY: secrets.runtimeApiKey,
      SANDBOX_BACKEND: place['SANDBOX_BACKEND'] ?? 'process',
    }),
    service('web', { HOSTNAME: '127.0.0.1' }, path.join(ROOT, 'apps/web/.next/standalone/apps/web/server.js')),
  ];
}
