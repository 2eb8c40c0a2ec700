import { analyticsVariables, flagVariables } from '@slipway/analytics';
import { platformAppsVariable } from '@slipway/integrations/apps';
import { parseConfig } from '@slipway/service';
import { logVariables } from '@slipway/telemetry';
import { z } from 'zod';

const secret = z.string().min(32);
const optional = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema.optional());
/** Bytes that are not UTF-8 stay as written. */
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
  /**
   * Port of `/metrics`, and of `/ready` with its reasons: for Prometheus, never for clients. Absent: PORT + 100, or any
   * free one when PORT is 0.
   */
  METRICS_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  /** Address of the metrics port. Absent: HOST. */
  METRICS_HOST: z.string().optional(),
  /** Postgres, as the role `slipway_app`. Secret. */
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
  /** Redis for queue and hints; absent: Postgres carries both. Secret. */
  REDIS_URL: z.url({ protocol: /^rediss?$/ }).optional(),
  /** Encrypts stored session keys of sandboxes; the same as app-server's. Secret. */
  ENCRYPTION_KEY: secret,
  /**
   * Decrypts what an earlier ENCRYPTION_KEY encrypted, and encrypts nothing: for the time of a key rotation
   * (docs/secrets.md). Secret.
   */
  ENCRYPTION_KEY_PREVIOUS: secret.optional(),
  /** Signs the ingest tokens of sandboxes; the same as app-server's. Secret. */
  INGEST_SECRET: secret,
  RUNTIME_API_URL: httpUrl,
  RUNTIME_API_KEY: secret,
  LLM_GATEWAY_URL: httpUrl,
  LLM_GATEWAY_MASTER_KEY: secret,
  /** Address of app-server for sandboxes. */
  SANDBOX_INGEST_URL: httpUrl,
  /** Address of llm-gateway for sandboxes. */
  SANDBOX_LLM_URL: httpUrl,
  /**
   * Address of Slipway for browsers, used in links of comments. The same as app-server's; absent: comments have no
   * links.
   */
  PUBLIC_URL: httpUrl.optional(),
  /** Time limit of cloning a repository. Seconds. */
  CLONE_TIMEOUT_SECONDS: z.coerce.number().int().min(1).max(3_600).default(300),
  /** Time limit of a repository's setup script. Seconds. */
  SETUP_SCRIPT_TIMEOUT_SECONDS: z.coerce.number().int().min(1).max(3_600).default(600),
  /**
   * Time after which a sandbox is paused when its conversation is idle and no user works in its terminal, files,
   * browser, VS Code or ports. Seconds.
   */
  SANDBOX_IDLE_TIMEOUT_SECONDS: z.coerce.number().int().min(1).max(604_800).default(1_200),
  /** Steps that an agent may take for one message. */
  MAX_ITERATIONS: z.coerce.number().int().min(1).max(100_000).default(500),
  /**
   * Database storage of one organization: events, messages, payloads, changes of workspaces. MiB; 0: no limit. The
   * operator can set another limit for one organization (docs/operate/storage.md).
   */
  STORAGE_LIMIT_MIB: z.coerce.number().int().min(0).max(1_073_741_824).default(51_200),
  /**
   * Encrypted files of checkpoints that an organization may hold in the store of workspaces, for each of its members.
   * GiB; 0: no limit. The operator can set another limit for one organization (docs/operate/checkpoints.md).
   */
  CHECKPOINT_GIB_PER_MEMBER: z.coerce.number().int().min(0).max(1_000_000).default(50),
  /**
   * Git hosts inside of your network, comma-separated, with their port: `git.corp.example,10.0.0.7:3000`. Connections
   * to them are allowed, over http too; all others must be https at a public address. The same in app-server.
   */
  INTEGRATION_PRIVATE_HOSTS: z
    .string()
    .default('')
    .transform((text) => text.split(',').flatMap((each) => each.trim().toLowerCase() || []))
    .pipe(z.array(z.string().regex(/^[a-z0-9.:[\]-]+$/, 'needs hosts such as git.corp.example'))),
  /**
   * OTLP receiver over HTTP, such as `http://otel-collector:4318`: traces of conversations are sent to its
   * `/v1/traces`. Absent: none are sent.
   */
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(httpUrl),
  /** Headers for it, comma-separated, values percent-encoded: `authorization=Basic%20…`. Secret. */
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .default('')
    .transform((text) => text.split(',').flatMap((each) => each.trim() || []))
    .pipe(
      z.array(
        z
          .string()
          .regex(/^[A-Za-z0-9-]+=(?:[!-$&-~]|%[0-9A-Fa-f]{2})*$/, 'needs pairs such as authorization=Basic%20abc'),
      ),
    )
    .transform((pairs) =>
      Object.fromEntries(
        pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), decoded(pair.slice(pair.indexOf('=') + 1))]),
      ),
    ),
  ...analyticsVariables,
  ...flagVariables,
  /**
   * Key of the PostHog project that analytics events are sent to. Absent: none are made or sent, and PostHog's package
   * is not loaded. Secret.
   */
  POSTHOG_KEY: optional(z.string().min(1).max(200)),
  /** Key that may read the project's flags (`phs_…`), where FLAGS_PROVIDER is posthog. Secret. */
  POSTHOG_FLAGS_KEY: optional(z.string().min(1).max(200)),
  /** Sends each model call of a run as an event: model, tokens, cost and times, never a prompt or an answer. */
  ANALYTICS_MODEL_CALLS: z.stringbool().default(false),
  /** The platform's own apps, as in app-server. Secret. */
  INTEGRATION_APPS: platformAppsVariable,
});
export type Config = Readonly<z.infer<typeof ConfigSchema>>;

/** @throws SlipwayError `config.invalid` that names every invalid variable, never its value. */
export function loadConfig(source: Readonly<Record<string, string | undefined>>): Config {
  return parseConfig(ConfigSchema, source);
}
