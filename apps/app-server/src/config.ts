import { analyticsVariables, flagVariables, staticFlagsVariable } from '@slipway/analytics';
import { SECOND_FACTOR_ACR } from '@slipway/auth';
import { parseConfig } from '@slipway/errors';
import { platformAppsVariable } from '@slipway/integrations/apps';
import { logVariables } from '@slipway/telemetry';
import { z } from 'zod';

const secret = z.string().min(32, 'needs at least 32 characters');
const httpUrl = z.url({ protocol: /^https?$/ });
/** Comma-separated; empty parts do not count. */
const list = (part: z.ZodType<string, string>, fallback = '') =>
  z
    .string()
    .default(fallback)
    .transform((text) => text.split(',').flatMap((each) => each.trim() || []))
    .pipe(z.array(part));
const network = z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()], 'needs addresses or networks such as 10.0.0.0/8');

const appSecrets = z
  .string()
  .default('{}')
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue('needs JSON such as {"github": ["secret"]}');
      return z.NEVER;
    }
  })
  .pipe(z.record(z.string(), z.array(z.string().min(16, 'needs at least 16 characters')).min(1).max(2)));

const Variables = z.object({
  ...logVariables,
  NODE_ENV: z.enum(['development', 'test', 'production']).default('development'),
  HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(3000),
  /** Where `/metrics` answers, and `/ready` with its reasons: for Prometheus, never for clients. Not given: PORT + 100, or any when PORT is 0. */
  METRICS_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  /** Address that it listens on. Not given: HOST. */
  METRICS_HOST: z.string().optional(),
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
  /** Providers that the issuer brokers and whose tokens it stores, by their aliases, comma-separated: `github,gitlab`. Their tokens are taken over at sign-in. */
  OIDC_BROKERS: list(z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'needs aliases such as github')),
  /** Values of `acr` by which the issuer says that somebody signed in with a second factor, comma-separated; they are asked for when an organization wants one. An `amr` of `mfa`, `otp` or `hwk` says it too. */
  OIDC_SECOND_FACTOR_ACR: list(z.string().regex(/^[\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]{1,200}$/, 'needs values such as second-factor'), SECOND_FACTOR_ACR),
  /** Nobody gets in whose e-mail address the issuer does not call verified. */
  REQUIRE_VERIFIED_EMAIL: z.stringbool().default(false),
  /** The terms that everybody has to accept; with TERMS_VERSION. */
  TERMS_URL: httpUrl.optional(),
  /** Another version has to be accepted anew. With TERMS_URL. */
  TERMS_VERSION: z.string().min(1).max(100).optional(),
  /** Proxies whose `X-Forwarded-For` is believed: addresses and networks, comma-separated. What comes from elsewhere is who sends it, whatever it says. */
  TRUSTED_PROXIES: list(network),
  /** Signs the session cookie. Secret; a change signs everybody out. */
  SESSION_SECRET: secret,
  /** Encrypts tokens and keys at rest; the same in worker and runtime-api. Secret. */
  ENCRYPTION_KEY: secret,
  /** Opens what it has encrypted, and encrypts nothing: while ENCRYPTION_KEY changes (docs/secrets.md). The same in worker and runtime-api. Secret. */
  ENCRYPTION_KEY_PREVIOUS: secret.optional(),
  /** Signs what sandboxes hand their events in with; the same in worker. Secret. */
  INGEST_SECRET: secret,
  /** Signs what lets people into sandboxes; the same in sandbox-gateway. Without it and SANDBOX_GATEWAY_URL nobody is let in. Secret. */
  SANDBOX_ACCESS_SECRET: secret.optional(),
  /** sandbox-gateway as browsers and clients reach it: an origin of its own, of which every sandbox has a subdomain. */
  SANDBOX_GATEWAY_URL: httpUrl.optional(),
  /** Pages are proxied there; absent: this server has none. */
  WEB_URL: httpUrl.optional(),
  /** Rate limit of one person or API key: requests that read. A minute. */
  RATE_READS_PER_MINUTE: z.coerce.number().int().min(1).max(100_000_000).default(3_000),
  /** Rate limit of one person or API key: requests that change something. A minute. */
  RATE_WRITES_PER_MINUTE: z.coerce.number().int().min(1).max(100_000_000).default(600),
  /** Rate limit of one person or API key: conversations created or resumed. A minute. */
  RATE_STARTS_PER_MINUTE: z.coerce.number().int().min(1).max(100_000_000).default(300),
  /** An organization with all its people and keys may do this many times what one of them may. */
  RATE_ORG_MULTIPLE: z.coerce.number().int().min(1).max(10_000).default(10),
  /** Event streams, sockets and subscriptions that one user may have open in one replica; over all, as many times more as there are replicas. */
  STREAMS_PER_USER: z.coerce.number().int().min(1).max(1_000_000).default(500),
  /** The same for all users and keys of one organization together. */
  STREAMS_PER_ORG: z.coerce.number().int().min(1).max(1_000_000).default(10_000),
  /** Rate limit of one address for requests that prove nothing: sign-in, devices, refused keys. A minute; of IPv6 an address is the first 64 bits. */
  RATE_ANONYMOUS_PER_MINUTE: z.coerce.number().int().min(1).max(100_000_000).default(600),
  /** Deliveries of one connection that a replica takes in a minute; more are answered 429. */
  RATE_DELIVERIES_PER_MINUTE: z.coerce.number().int().min(1).max(100_000_000).default(30_000),
  /** What providers sign with for the platform's own apps, as JSON: `{"github": ["secret"]}`; two of one provider while the secret is replaced. Secret. */
  INTEGRATION_APP_SECRETS: appSecrets,
  /** The platform's own apps, as JSON by provider: `{"github": {"id": "1", "slug": "slipway", "clientId": "…", "clientSecret": "…", "privateKey": "-----BEGIN…"}}`. Organizations install them, and they call by their tokens; what they deliver is signed by INTEGRATION_APP_SECRETS. The same in worker. Secret. */
  INTEGRATION_APPS: platformAppsVariable,
  /** Hosts of git hosts inside of your network, comma-separated, with their port: `git.corp.example,10.0.0.7:3000`. Connections may lead there, over http too; all others must be https at a public address. The same in worker. */
  INTEGRATION_PRIVATE_HOSTS: list(z.string().regex(/^[a-z0-9.:[\]-]+$/, 'needs hosts such as git.corp.example')),
  /** Mail server: `smtps://user:password@host:465`, or `smtp://…:587` with STARTTLS where it offers that. Without it no mail is sent, and admins are given the links to hand on. Secret. */
  SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
  /** Invitations by mail that one organization may send in 24 hours. */
  INVITATION_MAILS_PER_DAY: z.coerce.number().int().min(1).max(1_000_000).default(200),
  /** The same for one that is younger than a week and has proved no domain. */
  INVITATION_MAILS_PER_DAY_NEW: z.coerce.number().int().min(1).max(1_000_000).default(50),
  /** Invitations by mail to one address in 24 hours, of all organizations together: whoever makes many organizations floods nobody. */
  INVITATION_MAILS_PER_ADDRESS: z.coerce.number().int().min(1).max(1_000).default(10),
  /** Between two invitations by mail of one organization to one address. Seconds. */
  INVITATION_PAUSE_SECONDS: z.coerce.number().int().min(0).max(86_400).default(3_600),
  /** Whom mail comes from: an address, or `Name <address>`. */
  MAIL_FROM: z
    .string()
    .max(320)
    .regex(/^[^\p{Cc}]*@[^\p{Cc}]+$/u, 'is no address')
    .default('Slipway <slipway@localhost>'),
  /** Takes http and private addresses for LLM profiles and MCP servers: for development. */
  ALLOW_PRIVATE_URLS: z.stringbool().default(false),
  /** runtime-api, for the admins' view of sandboxes; without it and its key they see what conversations last knew. */
  RUNTIME_API_URL: httpUrl.optional(),
  /** Secret. */
  RUNTIME_API_KEY: secret.optional(),
  ...analyticsVariables,
  ...flagVariables,
  /** Values of flags where FLAGS_PROVIDER is static, as JSON: `{"example-tasks": "cards"}`. Those that are not in it have their default. */
  FLAGS: staticFlagsVariable,
  LLM_GATEWAY_URL: httpUrl,
  /** Secret. */
  LLM_GATEWAY_MASTER_KEY: secret,
});
export const ConfigSchema = Variables.refine((env) => (env.TERMS_URL === undefined) === (env.TERMS_VERSION === undefined), {
  path: ['TERMS_VERSION'],
  message: 'terms have both, TERMS_URL and TERMS_VERSION, or neither',
});

export type Config = Readonly<z.infer<typeof ConfigSchema>>;

/** Throws one error that names every wrong variable, never its value. */
export function loadConfig(source: Readonly<Record<string, string | undefined>>): Config {
  return parseConfig(ConfigSchema, source);
}
