import { analyticsVariables, flagVariables, staticFlagsVariable } from '@slipway/analytics';
import { SECOND_FACTOR_ACR } from '@slipway/auth';
import { platformAppsVariable } from '@slipway/integrations/apps';
import { listVariable, portsVariable } from '@slipway/outside/variables';
import { parseConfig } from '@slipway/service';
import { logVariables } from '@slipway/telemetry';
import { z } from 'zod';

const secret = z.string().min(32, 'needs at least 32 characters');
const httpUrl = z.url({ protocol: /^https?$/ });
/** Comma-separated; empty parts are ignored. */
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
  /**
   * Port of `/metrics`, and of `/ready` with its reasons: for Prometheus, never for clients. Absent: PORT + 100, or any
   * free one when PORT is 0.
   */
  METRICS_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  /** Address of the metrics port. Absent: HOST. */
  METRICS_HOST: z.string().optional(),
  /**
   * After SIGTERM, how long requests and new connections are still served while `/ready` answers 503. Seconds; longer
   * than load balancers take to stop sending new ones.
   */
  DRAIN_SECONDS: z.coerce.number().min(0).max(600).default(0),
  /** Address of Slipway for browsers. Cookies, redirects and the same-origin check use it. */
  PUBLIC_URL: httpUrl.default('http://127.0.0.1:3000'),
  /** Postgres connection string of `slipway_app`. Secret. */
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
  /** Redis for queue and hints; absent: Postgres carries both. Secret. */
  REDIS_URL: z.url({ protocol: /^rediss?$/ }).optional(),
  /** `https://host/realms/name`; plain http for a loopback issuer only. */
  OIDC_ISSUER_URL: httpUrl,
  OIDC_CLIENT_ID: z.string().min(1).default('slipway-web'),
  OIDC_CLIENT_SECRET: z.string().min(1),
  /**
   * Providers that the issuer brokers and whose tokens it stores, by alias, comma-separated: `github,gitlab`. Slipway
   * stores their tokens at sign-in.
   */
  OIDC_BROKERS: list(z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'needs aliases such as github')),
  /**
   * Values of `acr` that stand for a sign-in with a second factor, comma-separated; requested when an organization
   * requires one. An `amr` of `mfa`, `otp` or `hwk` counts too.
   */
  OIDC_SECOND_FACTOR_ACR: list(
    z.string().regex(/^[\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]{1,200}$/, 'needs values such as second-factor'),
    SECOND_FACTOR_ACR,
  ),
  /** Refuses users whose e-mail address the issuer has not verified. */
  REQUIRE_VERIFIED_EMAIL: z.stringbool().default(false),
  /** Terms of service that every user has to accept; with TERMS_VERSION. */
  TERMS_URL: httpUrl.optional(),
  /** Version of the terms of service; users accept each new version again. With TERMS_URL. */
  TERMS_VERSION: z.string().min(1).max(100).optional(),
  /**
   * Proxies whose `X-Forwarded-For` is trusted: addresses and networks, comma-separated. For all other peers the
   * address of the connection counts.
   */
  TRUSTED_PROXIES: list(network),
  /** Signs the session cookie. Secret; changing it signs all users out. */
  SESSION_SECRET: secret,
  /** Encrypts stored tokens and keys; the same in worker and runtime-api. Secret. */
  ENCRYPTION_KEY: secret,
  /**
   * Decrypts what an earlier ENCRYPTION_KEY encrypted, and encrypts nothing: for the time of a key rotation
   * (docs/secrets.md). The same in worker and runtime-api. Secret.
   */
  ENCRYPTION_KEY_PREVIOUS: secret.optional(),
  /** Signs the ingest tokens of sandboxes; the same in worker. Secret. */
  INGEST_SECRET: secret,
  /**
   * Signs tokens and tickets for access to sandboxes; the same in sandbox-gateway. Absent, like SANDBOX_GATEWAY_URL: no
   * access. Secret.
   */
  SANDBOX_ACCESS_SECRET: secret.optional(),
  /**
   * Signs what egress-proxy asks about hosts that the installation does not list; the same in egress-proxy. Absent:
   * those are refused, and rules of organizations mean nothing. Secret.
   */
  EGRESS_CONTROL_SECRET: secret.optional(),
  /**
   * Signs what credential-broker asks, and seals what it is answered; the same in credential-broker, and another than
   * EGRESS_CONTROL_SECRET, which it needs. Absent: organizations keep no credentials. Secret.
   */
  CREDENTIAL_CONTROL_SECRET: secret.optional(),
  /**
   * As egress-proxy has it: rules that allow hosts which organizations may not allow are refused when they are saved.
   */
  EGRESS_ORG_HOSTS: z.string().default('any'),
  /** The same. */
  EGRESS_NEVER_HOSTS: listVariable,
  /** As egress-proxy has it: rules that allow other ports are refused alike. Absent: none is. */
  EGRESS_PORTS: portsVariable.optional(),
  /**
   * Port on which egress-proxy and credential-broker ask; no ingress and no sandbox reaches it. With
   * EGRESS_CONTROL_SECRET.
   */
  INTERNAL_PORT: z.coerce.number().int().min(0).max(65_535).default(3008),
  /** sandbox-gateway for browsers and clients: an origin of its own, with a subdomain for every sandbox. */
  SANDBOX_GATEWAY_URL: httpUrl.optional(),
  /** Server of the pages, which are proxied; absent: no pages are served. */
  WEB_URL: httpUrl.optional(),
  /** Reading requests of one user or API key. Per minute. */
  RATE_READS_PER_MINUTE: z.coerce.number().int().min(1).max(100_000_000).default(3_000),
  /** Changing requests of one user or API key. Per minute. */
  RATE_WRITES_PER_MINUTE: z.coerce.number().int().min(1).max(100_000_000).default(600),
  /** Largest file that is attached to a message. MB. */
  ATTACHMENT_MAX_MB: z.coerce.number().int().min(1).max(20).default(20),
  /** Conversations that one user or API key creates or resumes. Per minute. */
  RATE_STARTS_PER_MINUTE: z.coerce.number().int().min(1).max(100_000_000).default(300),
  /** Rate limits of an organization, as a multiple of those of one user. */
  RATE_ORG_MULTIPLE: z.coerce.number().int().min(1).max(10_000).default(10),
  /**
   * Event streams, sockets and subscriptions that one user may have open on one replica. Every replica allows as many.
   */
  STREAMS_PER_USER: z.coerce.number().int().min(1).max(1_000_000).default(500),
  /** The same for all users and keys of one organization together, on one replica. */
  STREAMS_PER_ORG: z.coerce.number().int().min(1).max(1_000_000).default(10_000),
  /**
   * Unauthenticated requests of one address: sign-in, devices, refused keys. Per minute; an IPv6 address counts by its
   * first 64 bits.
   */
  RATE_ANONYMOUS_PER_MINUTE: z.coerce.number().int().min(1).max(100_000_000).default(600),
  /** Deliveries that one replica accepts for one connection; more are answered 429. Per minute. */
  RATE_DELIVERIES_PER_MINUTE: z.coerce.number().int().min(1).max(100_000_000).default(30_000),
  /**
   * Webhook secrets of the platform's own apps, as JSON: `{"github": ["secret"]}`; two for a provider during a
   * rotation. Secret.
   */
  INTEGRATION_APP_SECRETS: appSecrets,
  /**
   * The platform's own apps, as JSON by provider: `{"github": {"id": "1", "slug": "slipway", "clientId": "…",
   * "clientSecret": "…", "privateKey": "-----BEGIN…"}}`. Organizations install them, and calls use their tokens;
   * INTEGRATION_APP_SECRETS verifies their deliveries. The same in worker. Secret.
   */
  INTEGRATION_APPS: platformAppsVariable,
  /**
   * Git hosts inside of your network, comma-separated, with their port: `git.corp.example,10.0.0.7:3000`. Connections
   * to them are allowed, over http too; all others must be https at a public address. The same in worker.
   */
  INTEGRATION_PRIVATE_HOSTS: list(z.string().regex(/^[a-z0-9.:[\]-]+$/, 'needs hosts such as git.corp.example')),
  /**
   * Mail server: `smtps://user:password@host:465`, or `smtp://…:587` with STARTTLS where the server offers it. Absent:
   * no mail is sent, and admins get links to pass on. Secret.
   */
  SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
  /** Invitations by mail that one organization may send in 24 hours. */
  INVITATION_MAILS_PER_DAY: z.coerce.number().int().min(1).max(1_000_000).default(200),
  /** The same for an organization younger than a week that has verified no domain. */
  INVITATION_MAILS_PER_DAY_NEW: z.coerce.number().int().min(1).max(1_000_000).default(50),
  /**
   * Invitations by mail to one address in 24 hours, over all organizations: many organizations cannot overload one
   * address.
   */
  INVITATION_MAILS_PER_ADDRESS: z.coerce.number().int().min(1).max(1_000).default(10),
  /** Minimum time between two invitations by mail of one organization to one address. Seconds. */
  INVITATION_PAUSE_SECONDS: z.coerce.number().int().min(0).max(86_400).default(3_600),
  /** Sender of mail: an address, or `Name <address>`. */
  MAIL_FROM: z
    .string()
    .max(320)
    .regex(/^[^\p{Cc}]*@[^\p{Cc}]+$/u, 'is no address')
    .default('Slipway <slipway@localhost>'),
  /** Allows http and private addresses for LLM profiles and MCP servers. For development. */
  ALLOW_PRIVATE_URLS: z.stringbool().default(false),
  /**
   * runtime-api, for the admins' list of sandboxes. Absent, or without its key, the list shows the last state that
   * conversations recorded.
   */
  RUNTIME_API_URL: httpUrl.optional(),
  /** Secret. */
  RUNTIME_API_KEY: secret.optional(),
  ...analyticsVariables,
  ...flagVariables,
  /**
   * Values of flags where FLAGS_PROVIDER is static, as JSON: `{"example-tasks": "cards"}`. Flags without a value have
   * their default.
   */
  FLAGS: staticFlagsVariable,
  LLM_GATEWAY_URL: httpUrl,
  /** Secret. */
  LLM_GATEWAY_MASTER_KEY: secret,
});
export const ConfigSchema = Variables.refine(
  (env) => (env.TERMS_URL === undefined) === (env.TERMS_VERSION === undefined),
  {
    path: ['TERMS_VERSION'],
    message: 'terms have both, TERMS_URL and TERMS_VERSION, or neither',
  },
).refine(
  (env) =>
    env.CREDENTIAL_CONTROL_SECRET === undefined ||
    (env.EGRESS_CONTROL_SECRET !== undefined && env.EGRESS_CONTROL_SECRET !== env.CREDENTIAL_CONTROL_SECRET),
  { path: ['CREDENTIAL_CONTROL_SECRET'], message: 'needs EGRESS_CONTROL_SECRET, and is another secret than that' },
);

export type Config = Readonly<z.infer<typeof ConfigSchema>>;

/** @throws SlipwayError `config.invalid` that names every invalid variable, never its value. */
export function loadConfig(source: Readonly<Record<string, string | undefined>>): Config {
  return parseConfig(ConfigSchema, source);
}
