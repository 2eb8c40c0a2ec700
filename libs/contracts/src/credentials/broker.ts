import { z } from 'zod';
import { CREDENTIAL_SCOPES } from './credentials.js';
import { CredentialUse } from './uses.js';

/** Between egress-proxy, credential-broker and app-server (docs/decisions/0065). */

/** Most that egress-proxy says of one connection before its bytes. Bytes. */
export const MAX_BROKER_LINE_BYTES = 8 * 1024;

/**
 * The first line of each connection from egress-proxy to credential-broker: `<signature> <JSON>\n`, signed with
 * BROKER_SECRET as a request `CONNECT /` (`InternalSignature`, purpose `slipway-broker`). What follows is what the
 * sandbox says: TLS to `host`, or one plain request that came by a path endpoint.
 */
export const BrokerLine = z.object({
  claim: z.string().min(1).max(100),
  org: z.string().min(1).max(100),
  conversation: z.string().min(1).max(200),
  host: z.string().min(1).max(253),
  port: z.int().min(1).max(65_535),
  /** What let the connection through; `null`: the installation's list. */
  rule: z.string().max(100).nullable(),
  tls: z.boolean(),
});
export type BrokerLine = z.infer<typeof BrokerLine>;

/**
 * `POST /internal/credentials/v1/open`, signed with CREDENTIAL_CONTROL_SECRET (purpose `slipway-credentials`): what
 * this conversation may use at this host.
 */
export const CredentialQuestion = z.strictObject({
  claim: z.string().min(1).max(100),
  org: z.string().min(1).max(100),
  conversation: z.string().min(1).max(200),
  host: z.string().min(1).max(253),
  port: z.int().min(1).max(65_535),
});
export type CredentialQuestion = z.infer<typeof CredentialQuestion>;

export const OpenedCredential = z.object({
  id: z.string(),
  name: z.string(),
  scope: z.enum(CREDENTIAL_SCOPES),
  /** Its places at the host alone. */
  use: CredentialUse,
  /** Empty for a form that keeps none. */
  value: z.string(),
  /** Of the form `placeholder`: the reference that this conversation has in place of the value. */
  reference: z.string().nullable(),
  /** Of forms that use workload identity: a token of this conversation, for the credential's audience. */
  identity: z.string().nullable().default(null),
  /** Until it ends; `null`: it does not. Milliseconds. */
  endsInMs: z.number().nullable().default(null),
});
export type OpenedCredential = z.infer<typeof OpenedCredential>;

/** A rule of the organization that is about the conversation and the host; a limited one where `limits` says so. */
export const OpenedRule = z.object({
  id: z.string(),
  scope: z.enum(['organization', 'repository', 'environment', 'conversation']),
  host: z.string(),
  below: z.boolean(),
  port: z.int().nullable(),
  action: z.enum(['allow', 'deny']),
  once: z.boolean(),
  /** Milliseconds since 1970. */
  endsAt: z.number().nullable(),
  limits: z
    .object({
      methods: z.array(z.string()).nullable(),
      paths: z.array(z.string()).nullable(),
      foreign: z.enum(['refuse', 'allow']),
      websocket: z.boolean(),
    })
    .nullable(),
});
export type OpenedRule = z.infer<typeof OpenedRule>;

/**
 * The answer, sealed with the same secret for its question (`SecretBox`, context `opened:` and the question's
 * signature): values are in clear on no wire.
 */
export const OpenedCredentials = z.object({
  /** The narrowest scope first. */
  credentials: z.array(OpenedCredential),
  /** Names of those for the host that rest, and are therefore not among them. */
  resting: z.array(z.string()).optional(),
  /** Names of those that have ended. */
  expired: z.array(z.string()).optional(),
  /** Absent in answers of before 0.1.0, as is `observes`. */
  rules: z.array(OpenedRule).optional(),
  /** Whether hosts that no rule is about are let through now. */
  observes: z.boolean().optional(),
  /** Files of this host that were published less than so many days ago are kept away; absent: none is. */
  minAgeDays: z.int().min(1).optional(),
  /** How long they may be kept in memory. Milliseconds; a change of the organization ends it before. */
  ttlMs: z.int().min(0).max(60_000),
});
export type OpenedCredentials = z.infer<typeof OpenedCredentials>;

/**
 * `POST /internal/credentials/v1/reflected`, signed alike: a place has sent the value back. The credential rests from
 * the answer on.
 */
export const ReflectedCredential = z.strictObject({
  claim: z.string().min(1).max(100),
  org: z.string().min(1).max(100),
  conversation: z.string().min(1).max(200),
  credential: z.string().min(1).max(100),
  host: z.string().min(1).max(253),
});
export type ReflectedCredential = z.infer<typeof ReflectedCredential>;
