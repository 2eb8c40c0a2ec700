import { parseConfig } from '@slipway/errors';
import { z } from 'zod';

const secret = z.string().min(32, 'needs at least 32 characters');
const httpUrl = z.url({ protocol: /^https?$/ });

export const ConfigSchema = z.object({
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  NODE_ENV: z.enum(['development', 'test', 'production']).default('development'),
  HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(3000),
  /** After SIGTERM, how long requests and new connections are still served while `/ready` says 503. Seconds; above what it takes until no load balancer sends any here. */
  DRAIN_SECONDS: z.coerce.number().min(0).max(600).default(0),
  /** Where browsers reach Slipway: cookies, redirects and the check for other sites' requests go by it. */
  PUBLIC_URL: httpUrl.default('http://127.0.0.1:3000'),
  /** Postgres connection string of `slipway_app`. Secret. */
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
  /** Queue and hints; without it they go through Postgres. Secret. */
  REDIS_URL: z.url({ protocol: /^rediss?$/ }).optional(),
  /** `https://host/realms/name`; plain http for a loopback issuer only. */
  OIDC_ISSUER_URL: httpUrl,
  OIDC_CLIENT_ID: z.string().min(1).default('slipway-web'),
  OIDC_CLIENT_SECRET: z.string().min(1),
  /** Signs the session cookie. Secret; a change signs everybody out. */
  SESSION_SECRET: secret,
  /** Encrypts tokens and keys at rest; the same in worker and runtime-api. Secret. */
  ENCRYPTION_KEY: secret,
  /** Signs what sandboxes hand their events in with; the same in worker. Secret. */
  INGEST_SECRET: secret,
  /** Signs what lets people into sandboxes; the same in sandbox-gateway. Without it and SANDBOX_GATEWAY_URL nobody is let in. Secret. */
  SANDBOX_ACCESS_SECRET: secret.optional(),
  /** sandbox-gateway as browsers and clients reach it: an origin of its own, of which every sandbox has a subdomain. */
  SANDBOX_GATEWAY_URL: httpUrl.optional(),
  /** Pages are proxied there; absent: this server has none. */
  WEB_URL: httpUrl.optional(),
  LLM_GATEWAY_URL: httpUrl,
  /** Secret. */
  LLM_GATEWAY_MASTER_KEY: secret,
});

export type Config = Readonly<z.infer<typeof ConfigSchema>>;

/** Throws one error that names every wrong variable, never its value. */
export function loadConfig(source: Readonly<Record<string, string | undefined>>): Config {
  return parseConfig(ConfigSchema, source);
}
