import { z } from 'zod';

/** From least to most harmful; `UNKNOWN` is none of them and stands apart. */
export const SECURITY_RISKS = ['UNKNOWN', 'LOW', 'MEDIUM', 'HIGH'] as const;
export const SecurityRisk = z.enum(SECURITY_RISKS);
export type SecurityRisk = z.infer<typeof SecurityRisk>;

/**
 * When the agent asks before it acts, in OpenHands' form. `ConfirmRisky` asks from `threshold` on, and for an unknown
 * risk where `confirm_unknown`.
 */
export const ConfirmationPolicy = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('NeverConfirm') }),
  z.object({ kind: z.literal('AlwaysConfirm') }),
  z.object({
    kind: z.literal('ConfirmRisky'),
    threshold: SecurityRisk.exclude(['UNKNOWN']).default('HIGH'),
    confirm_unknown: z.boolean().default(true),
  }),
]);
export type ConfirmationPolicy = z.infer<typeof ConfirmationPolicy>;

/** A pattern of JavaScript's regular expressions with what it means, as OpenHands' analyzers carry it. */
const Patterns = z.array(z.tuple([z.string().max(1_000), z.string().max(500)])).max(200);

const SingleAnalyzer = z.discriminatedUnion('kind', [
  /** What the model itself said with its call. */
  z.object({ kind: z.literal('LLMSecurityAnalyzer') }),
  /** Rules over commands and paths: our own, or those given in place of them. */
  z.object({
    kind: z.literal('PatternSecurityAnalyzer'),
    high_patterns: Patterns.optional(),
    medium_patterns: Patterns.optional(),
  }),
  /**
   * What is harmful by its parts together: fetched code that is run, a raw disk written, a tree of the system deleted.
   */
  z.object({ kind: z.literal('PolicyRailSecurityAnalyzer') }),
]);
/** The worst of what its parts say. */
const EnsembleAnalyzer = z.object({
  kind: z.literal('EnsembleSecurityAnalyzer'),
  analyzers: z.array(SingleAnalyzer).min(1).max(10),
  propagate_unknown: z.boolean().default(false),
});
/**
 * Who says how harmful an action is. Kinds that are not here are refused: an analyzer that is silently left out would
 * be a check that is not there.
 */
export const SecurityAnalyzer = z.discriminatedUnion('kind', [SingleAnalyzer, EnsembleAnalyzer]);
export type SecurityAnalyzer = z.infer<typeof SecurityAnalyzer>;

/**
 * "Always here": what a user allowed for the remainder of one conversation. `exact` is this very call; `prefix` is a
 * command without shell operators that begins with these words, unless it is rated HIGH.
 */
export const ConfirmationRule = z.object({
  tool_name: z.string().min(1).max(200),
  match: z.enum(['exact', 'prefix']),
  value: z.string().min(1).max(10_000),
  by: z.string().max(200).optional(),
});
export type ConfirmationRule = z.infer<typeof ConfirmationRule>;

/** The rule that no longer holds, by what it says. */
export const RevokeConfirmationRule = z.strictObject(ConfirmationRule.omit({ by: true }).shape);
export type RevokeConfirmationRule = z.infer<typeof RevokeConfirmationRule>;

/** `POST /api/conversations/{id}/confirmation_policy`. */
export const SetConfirmationPolicyRequest = z.looseObject({ policy: ConfirmationPolicy });
/** `POST /api/conversations/{id}/security_analyzer`. `null`: none, and every risk is UNKNOWN. */
export const SetSecurityAnalyzerRequest = z.looseObject({ security_analyzer: SecurityAnalyzer.nullable() });

/**
 * Actions that are not carried out although the answer to the others is a yes, and those with a reason of their own.
 * Each must be one of those that wait.
 */
export const ActionRejections = z
  .array(z.object({ id: z.uuid(), reason: z.string().trim().max(2_000).optional() }))
  .max(100);
export type ActionRejections = z.infer<typeof ActionRejections>;

/**
 * `POST /api/conversations/{id}/events/respond_to_confirmation`: an answer to everything that waits. `slipway` is ours:
 * who answered, for which actions (others than those that wait are refused: another answer was first), which pending
 * ones are rejected while the others are approved (an agent-server that does not know this field finds actions missing,
 * and refuses), whether the agent goes on after a rejection, and a rule for the remainder of the conversation.
 */
export const RespondToConfirmationRequest = z.looseObject({
  accept: z.boolean(),
  reason: z.string().max(10_000).default('User rejected the action.'),
  slipway: z
    .object({
      by: z.string().max(200).optional(),
      /** Of `by`. Believed from the app; sandbox-gateway's own is put in its place for what comes by it. */
      by_id: z.string().max(200).optional(),
      by_kind: z.enum(['user', 'service-account', 'integration', 'system']).optional(),
      /** Sealed by app-server, for the audit entry; handed back in the answer's event. */
      receipt: z.string().max(4_000).optional(),
      action_ids: z.array(z.uuid()).optional(),
      rejections: ActionRejections.optional(),
      run: z.boolean().default(false),
      rule: ConfirmationRule.optional(),
    })
    .optional(),
});
export type RespondToConfirmationRequest = z.infer<typeof RespondToConfirmationRequest>;

/**
 * The same over agent-server's socket `/sockets/events/{id}`. A refusal comes back as a `ConversationErrorEvent`, to
 * its sender alone.
 */
export const ConfirmationFrame = RespondToConfirmationRequest.extend({ type: z.literal('confirmation') });

/** Value of a state update with key `confirmation`: an answer that was given, for the log. */
export const ConfirmationAnswer = z.looseObject({
  accepted: z.boolean(),
  action_ids: z.array(z.string()),
  by: z.string().optional(),
  by_id: z.string().optional(),
  by_kind: z.enum(['user', 'service-account', 'integration', 'system']).optional(),
  receipt: z.string().max(4_000).optional(),
  /** Where it was given. app-server writes the audit entry as it stores the event. */
  through: z.enum(['app', 'sandbox-gateway']).optional(),
  /** What is not asked again from now on. */
  always: ConfirmationRule.optional(),
  reason: z.string().optional(),
});
export type ConfirmationAnswer = z.infer<typeof ConfirmationAnswer>;

/** Value of a state update with key `confirmation_settings`: what holds from here on. */
export const ConfirmationSettings = z.object({
  policy: ConfirmationPolicy.default({ kind: 'NeverConfirm' }),
  analyzer: SecurityAnalyzer.nullable().default({ kind: 'LLMSecurityAnalyzer' }),
  rules: z.array(ConfirmationRule).max(100).default([]),
});
export type ConfirmationSettings = z.infer<typeof ConfirmationSettings>;

/** How often a conversation's agent asks, from seldom to always; `risky`: what is called HIGH, or cannot be judged. */
export const CONFIRMATION_MODES = ['never', 'risky', 'always'] as const;
export const ConfirmationMode = z.enum(CONFIRMATION_MODES);
export type ConfirmationMode = z.infer<typeof ConfirmationMode>;

/**
 * What an organization decides for all of its agents: the mode below which no conversation goes, and whether each
 * action needs a second user.
 */
export const OrgConfirmationPolicy = z.object({ floor: ConfirmationMode, fourEyes: z.boolean() });
export type OrgConfirmationPolicy = z.infer<typeof OrgConfirmationPolicy>;

/** `PUT …/conversations/{id}/confirmation-mode`. */
export const SetConfirmationMode = z.strictObject({ mode: ConfirmationMode });
export type SetConfirmationMode = z.infer<typeof SetConfirmationMode>;

/** `POST …/conversations/{id}/confirmation`: a user's decision on exactly these actions. */
export const AnswerConfirmation = z.strictObject({
  accept: z.boolean(),
  /** Ids of the ActionEvents that wait; others than those that wait by now are refused. */
  actionIds: z.array(z.uuid()).min(1).max(100),
  /** Passed to the agent with a rejection. */
  reason: z.string().trim().max(2_000).optional(),
  /** With a yes: actions of `actionIds` that are not carried out. With a no: reasons of their own. */
  rejections: ActionRejections.optional(),
  /** With a yes: what is not asked again in this conversation. */
  always: ConfirmationRule.omit({ by: true }).optional(),
});
export type AnswerConfirmation = z.infer<typeof AnswerConfirmation>;
