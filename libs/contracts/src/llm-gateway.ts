import { z } from 'zod';

/** llm-gateway: OpenAI's `/v1/chat/completions` and `/v1/models`, keys by LiteLLM's names. */

/** Providers that models with a prefix of theirs (`anthropic/claude-…`) go to directly, with the person's or the organization's own key. */
export const DIRECT_PREFIXES = ['openai', 'anthropic', 'azure', 'gemini', 'bedrock'] as const;
export type DirectPrefix = (typeof DIRECT_PREFIXES)[number];

/** By prefix. Stored sealed under the virtual key's own token: it is readable in a call with that token and never again otherwise. */
export const OwnProviders = z.partialRecord(
  z.enum(DIRECT_PREFIXES),
  z.object({
    /** Secret. For Bedrock `accessKeyId:secretAccessKey[:sessionToken]` or a bearer token of its own. */
    apiKey: z.string().min(1).max(8_192),
    /** The provider's own address when absent; needed for `azure`. https, at a public address; up to and including the version. */
    baseUrl: z
      .url({ protocol: /^https?$/ })
      .max(2_048)
      .optional(),
    /** Azure's. */
    apiVersion: z.string().max(50).optional(),
    /** Bedrock's. */
    region: z.string().max(50).optional(),
  }),
);
export type OwnProviders = z.infer<typeof OwnProviders>;

/** `POST /key/generate`, `Authorization: Bearer <master key>`. A new key of a conversation ends the ones before it. */
export const GenerateKey = z.looseObject({
  key_alias: z.string().max(200).optional(),
  /** Empty means every model. */
  models: z.array(z.string()).default([]),
  /** Seconds until it ends. */
  duration_seconds: z
    .int()
    .positive()
    .max(30 * 86_400)
    .default(86_400),
  metadata: z.object({ org_id: z.string(), conversation_id: z.uuid(), user_id: z.string().optional() }),
});
export type GenerateKey = z.infer<typeof GenerateKey>;
/** The key is in this answer and nowhere else: its SHA-256 is stored. */
export const GeneratedKey = z.object({ key: z.string(), key_id: z.string(), expires: z.iso.datetime() });
export type GeneratedKey = z.infer<typeof GeneratedKey>;
/** `POST /key/delete`. */
export const DeleteKeys = z.object({ conversation_id: z.uuid() });

/** The model id of the built-in scripted model. */
export const DEMO_MODEL = 'slipway-demo';

export const GatewayModel = z.looseObject({
  id: z.string(),
  object: z.literal('model'),
  created: z.int(),
  owned_by: z.string(),
  demo: z.boolean().optional(),
  default: z.boolean().optional(),
});
export const GatewayModelList = z.looseObject({ object: z.literal('list'), data: z.array(GatewayModel) });

/** A call as the roll-up needs it. `cost` is a decimal in USD; `priced: false` says that nobody knows the price and it is 0. */
export const LedgerRow = z.object({
  org: z.string(),
  conversation: z.uuid(),
  user: z.string().nullable(),
  model: z.string(),
  prompt: z.int().nonnegative(),
  cached: z.int().nonnegative(),
  completion: z.int().nonnegative(),
  cost: z.string(),
  priced: z.boolean(),
  failed: z.boolean(),
  /** When it began: its day is this one's. */
  at: z.iso.datetime(),
});
/** `GET /internal/ledger?after=&limit=`, with the master key: calls after a position in the order in which they were stored. No call comes to light at or before `upto` later on. */
export const LedgerPage = z.object({ rows: z.array(LedgerRow), upto: z.int().nonnegative(), more: z.boolean() });
export type LedgerPage = z.infer<typeof LedgerPage>;
/** Most rows of a page. */
export const MAX_LEDGER_ROWS = 2_000;

/** `PUT /internal/budget-stops/{org}`, with the master key: who of an organization may not call until when; whoever is not in it may. `user: null` is everybody. */
export const BudgetStops = z.object({
  stops: z.array(z.object({ user: z.string().min(1).nullable(), reason: z.string().min(1).max(1_000), until: z.iso.datetime() })).max(50_000),
});
export type BudgetStops = z.infer<typeof BudgetStops>;

const LimitUsd = z
  .string()
  .regex(/^[0-9]{1,7}(\.[0-9]{1,10})?$/, 'must be an amount such as 25 or 12.50')
  .nullable();
/**
 * `PUT /internal/limits/{org}`, with the master key: what an organization and its people may spend in a month that begins on `resetDay` at 00:00 UTC.
 * `memberLimitUsd` is of each who has no override; `null` is no limit. Limits of keys and conversations are left as they are.
 */
export const OrgLimits = z.object({
  resetDay: z.int().min(1).max(28),
  orgLimitUsd: LimitUsd,
  memberLimitUsd: LimitUsd,
  overrides: z.array(z.object({ user: z.string().min(1).max(200), limitUsd: LimitUsd })).max(50_000),
});
export type OrgLimits = z.infer<typeof OrgLimits>;
