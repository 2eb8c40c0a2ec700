import { z } from 'zod';
import { CreateEgressRule, EGRESS_UNKNOWN, EgressRule } from './egress-rules.js';

/** A change of rules, tried on what was counted of the last 30 days. Nothing is changed by it. */

/** Hosts and conversations that an answer names. */
export const MAX_TRIAL_HOSTS = 100;
export const MAX_TRIAL_CONVERSATIONS = 50;

/** Exactly one of the three. */
export const TryEgressRule = z
  .strictObject({
    /** A rule that is added. */
    rule: CreateEgressRule.optional(),
    /** Id of a rule that is removed. */
    remove: z.string().min(1).max(100).optional(),
    /** What becomes of unknown hosts. */
    egressUnknown: z.enum(EGRESS_UNKNOWN).optional(),
  })
  .refine((change) => Object.values(change).filter((value) => value !== undefined).length === 1, {
    path: [],
    message: 'Name one change: rule, remove or egressUnknown.',
  });
export type TryEgressRule = z.infer<typeof TryEgressRule>;

export const EgressTrialCount = z.object({ connections: z.int(), hosts: z.int(), conversations: z.int() });
export type EgressTrialCount = z.infer<typeof EgressTrialCount>;

/** What a connection would meet with the change: refused, or a user is asked, or it is let through. */
export const EGRESS_EFFECTS = ['refused', 'asked', 'allowed'] as const;
export type EgressEffect = (typeof EGRESS_EFFECTS)[number];

export const EgressTrial = z.object({
  /** That were looked at: let through, or refused by a rule or by nobody's answer. */
  tried: EgressTrialCount,
  /** Were let through, and would be refused. */
  refused: EgressTrialCount,
  /** Were let through, and a user would be asked. */
  asked: EgressTrialCount,
  /** Were refused, and would be let through. */
  allowed: EgressTrialCount,
  /** What the rule of `remove` let through; `null` for another change. */
  letThrough: EgressTrialCount.nullable(),
  /** Those with the most connections. */
  hosts: z
    .array(
      z.object({
        host: z.string(),
        port: z.int(),
        effect: z.enum(EGRESS_EFFECTS),
        connections: z.int(),
        conversations: z.int(),
      }),
    )
    .max(MAX_TRIAL_HOSTS),
  /** Those with the most connections; none for who may not read conversations. */
  conversations: z
    .array(z.object({ id: z.string(), title: z.string(), connections: z.int() }))
    .max(MAX_TRIAL_CONVERSATIONS),
  /** The rule is about requests of a method or path, which are not counted: only connections were tried. */
  limited: z.boolean(),
  /** `false`: there was more than is looked at, and only the hosts with the most connections were. */
  complete: z.boolean(),
});
export type EgressTrial = z.infer<typeof EgressTrial>;

/** Rules that are made together. */
export const MAX_RULES_TOGETHER = 100;
export const CreateEgressRules = z.strictObject({
  rules: z.array(CreateEgressRule).min(1).max(MAX_RULES_TOGETHER),
});
export type CreateEgressRules = z.infer<typeof CreateEgressRules>;
export const CreatedEgressRules = z.object({ data: z.array(EgressRule).max(MAX_RULES_TOGETHER) });
export type CreatedEgressRules = z.infer<typeof CreatedEgressRules>;
