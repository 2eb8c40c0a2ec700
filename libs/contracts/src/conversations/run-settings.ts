import { z } from 'zod';
import { AgentType } from '../agent/agent-settings.js';
import { Money } from '../spending/budgets.js';
import { ConfirmationRule } from './confirmation.js';

/**
 * Steps for one message, before the agent pauses. What the organization and the installation allow is a ceiling above
 * it.
 */
export const MaxIterations = z.int().min(1).max(100_000);

/** What a conversation may cost before it pauses: more than nothing. */
export const ConversationBudget = Money.refine((amount) => Number(amount) > 0, 'must be more than 0');

/** `PATCH …/conversations/{id}/run-settings`: absent stays, `null` is no limit of its own. */
export const UpdateRunSettings = z
  .strictObject({
    agentType: AgentType.optional(),
    maxIterations: MaxIterations.nullable().optional(),
    maxBudgetUsd: ConversationBudget.nullable().optional(),
  })
  .refine((change) => Object.values(change).some((value) => value !== undefined), 'say what is to change');
export type UpdateRunSettings = z.infer<typeof UpdateRunSettings>;

/** Value of a state update with key `run_settings` (`terms` in logs of before 0.1.0), from the agent's next step on. */
export const ConversationRunSettings = z.object({
  agentType: AgentType,
  maxIterations: z.int().positive().nullable(),
  maxBudgetUsd: z.string().nullable(),
});
export type ConversationRunSettings = z.infer<typeof ConversationRunSettings>;

/** `POST …/conversations/{id}/carry-out-plan`. `note` is passed to the agent with the plan. */
export const CarryOutPlan = z.strictObject({ note: z.string().trim().max(10_000).optional() });
export type CarryOutPlan = z.infer<typeof CarryOutPlan>;

/** `POST …/conversations/{id}/ask`: a question beside the task. */
export const AskConversation = z.strictObject({
  question: z
    .string()
    .trim()
    .min(1, 'ask something')
    .max(20_000)
    .refine((value) => !value.includes('\u0000'), 'must not contain the character NUL'),
});
export type AskConversation = z.infer<typeof AskConversation>;
export const ConversationAnswer = z.object({ answer: z.string() });
export type ConversationAnswer = z.infer<typeof ConversationAnswer>;

/** What is not asked again in a conversation. */
export const ConfirmationRuleList = z.object({ data: z.array(ConfirmationRule) });
export type ConfirmationRuleList = z.infer<typeof ConfirmationRuleList>;
