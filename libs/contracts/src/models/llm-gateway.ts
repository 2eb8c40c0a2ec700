import { z } from 'zod';

/** llm-gateway: OpenAI's `/v1/chat/completions` and `/v1/models`, keys by LiteLLM's names. */

/**
 * Providers that models with a prefix of theirs (`anthropic/claude-…`) go to directly, with the user's or the
 * organization's own key.
 */
export const PROVIDER_IDS = ['openai', 'anthropic', 'azure', 'gemini', 'bedrock'] as const;
export type ProviderId = (typeof PROVIDER_IDS)[number];

/** Names of our own in front of a model: it is one of the managed ones, without them. */
export const MANAGED_PREFIXES = ['openhands/', 'litellm_proxy/'] as const;

/**
 * What the gateway calls the model of a profile, and whether it is asked with a key or at an address of the profile's
 * `own`. A name with a provider's prefix goes to that provider; any other to an OpenAI-compatible server at the
 * profile's address, or at OpenAI's own. Neither key nor address, or one of the gateway's own prefixes: the gateway's
 * model of that name.
 */
export function gatewayModelOf({
  model,
  baseUrl,
  hasKey,
}: {
  model: string;
  baseUrl: string | null;
  hasKey: boolean;
}): { model: string; own: boolean } {
  if ((!hasKey && baseUrl === null) || MANAGED_PREFIXES.some((prefix) => model.startsWith(prefix)))
    return { model, own: false };
  return {
    model: PROVIDER_IDS.some((prefix) => model.startsWith(`${prefix}/`)) ? model : `openai/${model}`,
    own: true,
  };
}

/**
 * By prefix. Stored sealed under the virtual key's own token: it is readable in a call with that token and never again
 * otherwise.
 */
export const OwnProviders = z.partialRecord(
  z.enum(PROVIDER_IDS),
  z.object({
    /** Secret. For Bedrock `accessKeyId:secretAccessKey[:sessionToken]` or a bearer token of its own. */
    apiKey: z.string().min(1).max(8_192),
    /**
     * The provider's own address when absent; needed for `azure`. https, at a public address; up to and including the
     * version.
     */
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

/** `30s`, `15m`, `24h`, `30d`, `1mo`: LiteLLM's way to write a time. */
const Duration = z.string().regex(/^[1-9][0-9]{0,5}(s|m|h|d|mo)$/, 'must be a time such as 30d');
const PerMinute = z.int().min(1).max(1_000_000_000).nullable().optional();

/** What may limit a key, a user or a team. `null` takes a limit away, absent leaves it as it is. */
const LimitFields = {
  /** USD. */
  max_budget: z.number().min(0).max(1_000_000).nullable().optional(),
  /**
   * After it the budget begins again: `1d` at midnight UTC, `1mo` on the first of the month, others counted from when
   * they were set. Without it the budget is for good.
   */
  budget_duration: Duration.nullable().optional(),
  rpm_limit: PerMinute,
  tpm_limit: PerMinute,
};
const Name = z.string().min(1).max(200);
const Metadata = z
  .record(z.string(), z.unknown())
  .refine((metadata) => JSON.stringify(metadata).length <= 16_384, 'must have at most 16 KiB');

/**
 * `POST /key/generate`, `Authorization: Bearer <master key>`: LiteLLM's. `metadata.conversation_id` binds the key to a
 * conversation: it ends the keys that the conversation had, and its budget is the conversation's. `team_id` (or
 * `metadata.org_id`) is the organization.
 */
export const GenerateKey = z.looseObject({
  key_alias: Name.nullish(),
  /** Empty means every model. */
  models: z.array(Name).max(1_000).default([]),
  duration: Duration.nullish(),
  /**
   * Seconds until it ends; goes before `duration`. A key without either ends after a day when it is bound to a
   * conversation, else never.
   */
  duration_seconds: z
    .int()
    .positive()
    .max(30 * 86_400)
    .optional(),
  /**
   * Of a conversation's key: the one before it works on for so long, at most five minutes, when nothing ends it sooner.
   * Without it that one ends at once. Seconds.
   */
  grace_seconds: z.int().min(10).max(300).optional(),
  team_id: Name.nullish(),
  user_id: Name.nullish(),
  ...LimitFields,
  blocked: z.boolean().nullish(),
  metadata: z
    .looseObject({
      org_id: Name.optional(),
      conversation_id: z.uuid().optional(),
      user_id: Name.optional(),
      /** How sentences name the user. */
      user_label: z.string().max(200).optional(),
      repository: z.string().max(500).optional(),
      pull_request: z.union([z.string().max(200), z.int()]).optional(),
      integration: z.string().max(200).optional(),
    })
    .default({}),
  /** Keys of providers that are the caller's own. */
  providers: OwnProviders.optional(),
});
export type GenerateKey = z.infer<typeof GenerateKey>;
/** The key is in this answer and nowhere else: its SHA-256 is stored. */
export const GeneratedKey = z.looseObject({
  key: z.string(),
  key_id: z.string().optional(),
  expires: z.string().nullish(),
});
export type GeneratedKey = z.infer<typeof GeneratedKey>;
/** `POST /key/update`. `key` here and below is the key itself, its id, or its SHA-256 in hex (LiteLLM's `token`). */
export const UpdateKey = z.looseObject({
  key: Name,
  key_alias: Name.nullish(),
  models: z.array(Name).max(1_000).optional(),
  duration: Duration.nullish(),
  ...LimitFields,
  blocked: z.boolean().nullish(),
  metadata: Metadata.optional(),
});
export type UpdateKey = z.infer<typeof UpdateKey>;
/** `POST /key/delete`: keys by name, or all of a conversation. */
export const DeleteKeys = z.union([
  z.looseObject({ conversation_id: z.uuid() }),
  z
    .looseObject({ keys: z.array(Name).max(1_000).optional(), key_aliases: z.array(Name).max(1_000).optional() })
    .refine(
      ({ keys, key_aliases }) => (keys ?? key_aliases) !== undefined,
      'name keys, key_aliases or conversation_id',
    ),
]);

/** `POST /team/new`, `/team/update`. A team is an organization. */
export const PutTeam = z.looseObject({
  team_id: Name.nullish(),
  team_alias: Name.nullish(),
  models: z.array(Name).max(1_000).optional(),
  ...LimitFields,
  /** Of each member who has no budget of their own, by the month. */
  team_member_budget: z.number().min(0).max(1_000_000).nullable().optional(),
  blocked: z.boolean().nullish(),
  metadata: Metadata.optional(),
});
export type PutTeam = z.infer<typeof PutTeam>;
export const DeleteTeams = z.looseObject({ team_ids: z.array(Name).min(1).max(100) });
/** `POST /team/member_update`. */
export const UpdateTeamMember = z.looseObject({
  team_id: Name,
  user_id: Name,
  max_budget_in_team: z.number().min(0).max(1_000_000).nullable(),
});

/**
 * `POST /user/new`, `/user/update`. A user is a member of one organization: of `team_id`, or of the one that is called
 * `default`.
 */
export const PutUser = z.looseObject({
  user_id: Name.nullish(),
  user_alias: Name.nullish(),
  user_email: z.string().max(320).nullish(),
  team_id: Name.nullish(),
  models: z.array(Name).max(1_000).optional(),
  ...LimitFields,
  metadata: Metadata.optional(),
  /** Makes a key with it, as LiteLLM does. */
  auto_create_key: z.boolean().default(true),
  key_alias: Name.nullish(),
  duration: Duration.nullish(),
});
export type PutUser = z.infer<typeof PutUser>;
export const DeleteUsers = z.looseObject({ user_ids: z.array(Name).min(1).max(1_000), team_id: Name.nullish() });

export const GatewayModel = z.looseObject({
  id: z.string(),
  object: z.literal('model'),
  created: z.int(),
  owned_by: z.string(),
  demo: z.boolean().optional(),
  default: z.boolean().optional(),
});
export const GatewayModelList = z.looseObject({ object: z.literal('list'), data: z.array(GatewayModel) });

/** A call as the roll-up needs it. `cost` is a decimal in USD; `priced: false` means an unknown price, counted as 0. */
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
/**
 * `GET /internal/ledger?after=&limit=`, with the master key: calls after a position in the order in which they were
 * stored. No call comes to light at or before `upto` later on.
 */
export const LedgerPage = z.object({ rows: z.array(LedgerRow), upto: z.int().nonnegative(), more: z.boolean() });
export type LedgerPage = z.infer<typeof LedgerPage>;
/** Most rows of a page. */
export const MAX_LEDGER_ROWS = 2_000;

/**
 * `PUT /internal/budget-stops/{org}`, with the master key: users of an organization who may not call, and until when;
 * all others may. `user: null` is the whole organization.
 */
export const BudgetStops = z.object({
  stops: z
    .array(
      z.object({ user: z.string().min(1).nullable(), reason: z.string().min(1).max(1_000), until: z.iso.datetime() }),
    )
    .max(50_000),
});
export type BudgetStops = z.infer<typeof BudgetStops>;

const LimitUsd = z
  .string()
  .regex(/^[0-9]{1,7}(\.[0-9]{1,10})?$/, 'must be an amount such as 25 or 12.50')
  .nullable();
/**
 * `PUT /internal/limits/{org}`, with the master key: what an organization and its people may spend in a month that
 * begins on `resetDay` at 00:00 UTC. `memberLimitUsd` is of each who has no override; `null` is no limit. Limits of
 * keys and conversations are left as they are. Models without a price are refused where any of them limits a call,
 * unless `allowUnpriced` says otherwise.
 */
export const OrgLimits = z.object({
  resetDay: z.int().min(1).max(28),
  orgLimitUsd: LimitUsd,
  memberLimitUsd: LimitUsd,
  overrides: z.array(z.object({ user: z.string().min(1).max(200), limitUsd: LimitUsd })).max(50_000),
  allowUnpriced: z.boolean().default(false),
});
export type OrgLimits = z.infer<typeof OrgLimits>;

/**
 * `PUT /internal/spending/{conversation}`, with the master key: whose calls the keys of a conversation make from now
 * on, and what the conversation may spend in all. `limitUsd: null` is no limit of its own. Repeatable.
 */
export const ConversationSpending = z.object({
  org: Name,
  user: Name,
  userLabel: z.string().max(200),
  limitUsd: LimitUsd,
});
export type ConversationSpending = z.infer<typeof ConversationSpending>;

/**
 * Model calls of one pass: a call that fails is repeated three times. A sandbox that keeps the pass spends no more than
 * these with it.
 */
export const CHARGE_PASS_CALLS = 4;
/** A pass is good for this long. Seconds: a summary that was asked for is made after the step under way. */
export const CHARGE_PASS_SECONDS = 600;

/**
 * `POST /internal/charge-passes`, with the master key: `CHARGE_PASS_CALLS` calls with a key of this conversation count
 * for this user instead of who pays for the task, when they come with the pass (`CHARGE_PASS_HEADER`) whose SHA-256
 * this is, in hex. Repeatable.
 */
export const ChargePass = z.object({
  org: Name,
  conversation: z.uuid(),
  user: Name,
  userLabel: z.string().max(200),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'is no SHA-256'),
});
export type ChargePass = z.infer<typeof ChargePass>;

/**
 * `GET /internal/deployments`, with the master key: a place that answers to a model, as one replica of the gateway sees
 * it since it started.
 */
export const GatewayDeployment = z.object({
  /** May hold slashes. */
  id: z.string(),
  model: z.string(),
  provider: z.string(),
  provider_model: z.string(),
  region: z.string().nullable(),
  weight: z.number(),
  state: z.enum(['closed', 'open', 'half-open']),
  /** Seconds until it is asked again. */
  open_for: z.int().nonnegative(),
  /** The provider itself asked to be left alone. */
  cools_down: z.boolean(),
  in_flight: z.int().nonnegative(),
  calls: z.int().nonnegative(),
  failures: z.int().nonnegative(),
  /** Smoothed, and the median of the newest 64. */
  first_byte_ms: z.int().nonnegative().nullable(),
  first_byte_p50_ms: z.int().nonnegative().nullable(),
  last_failure: z.object({ code: z.string(), detail: z.string(), seconds_ago: z.int().nonnegative() }).nullable(),
});
export type GatewayDeployment = z.infer<typeof GatewayDeployment>;
export const GatewayDeploymentList = z.object({ data: z.array(GatewayDeployment) });
export type GatewayDeploymentList = z.infer<typeof GatewayDeploymentList>;

/** `POST /internal/deployments/{id}/test`. */
export const GatewayDeploymentTest = z.discriminatedUnion('ok', [
  z.object({
    ok: z.literal(true),
    elapsed_ms: z.int().nonnegative(),
    prompt_tokens: z.int().nonnegative().nullable(),
    completion_tokens: z.int().nonnegative().nullable(),
  }),
  z.object({ ok: z.literal(false), elapsed_ms: z.int().nonnegative(), code: z.string(), detail: z.string() }),
]);
export type GatewayDeploymentTest = z.infer<typeof GatewayDeploymentTest>;
