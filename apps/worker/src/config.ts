import { analyticsVariables, flagVariables } from '@slipway/analytics';
import { parseConfig } from '@slipway/errors';
import { platformAppsVariable } from '@slipway/integrations/apps';
import { logVariables } from '@slipway/telemetry';
import { z } from 'zod';

const secret = z.string().min(32);
const optional = <T extends z.ZodType>(schema: T) => z.preprocess((value) => (value === '' ? undefined : value), schema.optional());
/** Bytes that are no UTF-8 are kept as they were written. */
const decoded = (value: string): string => {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
};
const httpUrl = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ''));

export const ConfigSchema = z.object({
  NODE_ENV: z.enum(['development', 'test', 'production']).default('development'),
  ...logVariables,
  HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(3001),
  /** Where `/metrics` answers, and `/ready` with its reasons: for Prometheus, never for clients. Not given: PORT + 100, or any when PORT is 0. */
  METRICS_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  /** Address that it listens on. Not given: HOST. */
  METRICS_HOST: z.string().optional(),
  /** As role `slipway_app`. Secret. */
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
  /** Absent: Postgres carries queue and hints. Secret. */
  REDIS_URL: z.url({ protocol: /^rediss?$/ }).optional(),
  /** Seals the sandbox's session key at rest; the same as app-server's. */
  ENCRYPTION_KEY: secret,
  /** Opens what it has sealed, and seals nothing: while ENCRYPTION_KEY changes (docs/secrets.md). Secret. */
  ENCRYPTION_KEY_PREVIOUS: secret.optional(),
  /** Signs what a sandbox shows at ingest; the same as app-server's. */
  INGEST_SECRET: secret,
  RUNTIME_API_URL: httpUrl,
  RUNTIME_API_KEY: secret,
  LLM_GATEWAY_URL: httpUrl,
  LLM_GATEWAY_MASTER_KEY: secret,
  /** app-server as a sandbox reaches it. */
  SANDBOX_INGEST_URL: httpUrl,
  /** llm-gateway as a sandbox reaches it. */
  SANDBOX_LLM_URL: httpUrl,
  /** Where browsers reach Slipway: links in comments lead there. The same as app-server's; absent: comments have no links. */
  PUBLIC_URL: httpUrl.optional(),
  /** Seconds. */
  CLONE_TIMEOUT_SECONDS: z.coerce.number().int().min(1).max(3_600).default(300),
  /** Seconds. */
  SETUP_SCRIPT_TIMEOUT_SECONDS: z.coerce.number().int().min(1).max(3_600).default(600),
  /** A sandbox whose conversation does nothing for this long, and in whose terminal, files, browser, VS Code and ports nobody is at work, is paused. Seconds. */
  SANDBOX_IDLE_TIMEOUT_SECONDS: z.coerce.number().int().min(1).max(604_800).default(1_200),
  /** Steps that an agent may take for one message. */
  MAX_ITERATIONS: z.coerce.number().int().min(1).max(100_000).default(500),
  /** What an organization may keep in the database: events, messages, payloads, changes of workspaces. MiB; 0: no limit. The operator sets another one for an organization (docs/operate/storage.md). */
  STORAGE_LIMIT_MIB: z.coerce.number().int().min(0).max(1_073_741_824).default(51_200),
  /** Hosts of git hosts inside of your network, comma-separated, with their port: `git.corp.example,10.0.0.7:3000`. Connections may lead there, over http too; all others must be https at a public address. The same in app-server. */
  INTEGRATION_PRIVATE_HOSTS: z
    .string()
    .default('')
    .transform((text) => text.split(',').flatMap((each) => each.trim().toLowerCase() || []))
    .pipe(z.array(z.string().regex(/^[a-z0-9.:[\]-]+$/, 'needs hosts such as git.corp.example'))),
  /** An OTLP receiver over HTTP, such as `http://otel-collector:4318`: traces of conversations are sent to `/v1/traces` there. Absent: none are. */
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(httpUrl),
  /** Headers for it, comma-separated, values percent-encoded: `authorization=Basic%20…`. Secret. */
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .default('')
    .transform((text) => text.split(',').flatMap((each) => each.trim() || []))
    .pipe(z.array(z.string().regex(/^[A-Za-z0-9-]+=(?:[!-$&-~]|%[0-9A-Fa-f]{2})*$/, 'needs pairs such as authorization=Basic%20abc')))
    .transform((pairs) => Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), decoded(pair.slice(pair.indexOf('=') + 1))]))),
  ...analyticsVariables,
  ...flagVariables,
  /** Key of the PostHog project that analytics events are sent to. Absent: none are made or sent, and PostHog's package is not read. Secret. */
  POSTHOG_KEY: optional(z.string().min(1).max(200)),
  /** Key that may read the project's flags (`phs_…`), where FLAGS_PROVIDER is posthog. Secret. */
  POSTHOG_FLAGS_KEY: optional(z.string().min(1).max(200)),
  /** Whether each model call of a run is an event of its own: model, tokens, cost and times, never a prompt or an answer. */
  ANALYTICS_MODEL_CALLS: z.stringbool().default(false),
  /** The platform's own apps, as in app-server. Secret. */
  INTEGRATION_APPS: platformAppsVariable,
});
export type Config = Readonly<z.infer<typeof ConfigSchema>>;

/** @throws SlipwayError `config.invalid` that names every wrong variable, never its value. */
export function loadConfig(source: Readonly<Record<string, string | undefined>>): Config {
  return parseConfig(ConfigSchema, source);
}
