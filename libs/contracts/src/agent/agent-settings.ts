import { z } from 'zod';
import { ConfirmationPolicy, OrgConfirmationPolicy, SecurityAnalyzer } from '../conversations/confirmation.js';
import { LlmSettings } from './agent-server.js';

/** `default` works; `plan` reads, asks and writes PLAN.md, and changes nothing else. */
export const AGENT_TYPES = ['default', 'plan'] as const;
export const AgentType = z.enum(AGENT_TYPES);
export type AgentType = z.infer<typeof AgentType>;

/** `null` is no limit of the conversation's own. */
export const RunLimits = z.object({
  /** Steps for one message. */
  maxIterations: z.int().positive().nullable(),
  /** US dollars. */
  maxBudgetUsd: z.number().positive().nullable(),
});
export type RunLimits = z.infer<typeof RunLimits>;

/** When the agent asks before it acts, and the part of that which its organization keeps for itself. */
export const AgentConfirmation = z.object({
  policy: ConfirmationPolicy,
  analyzer: SecurityAnalyzer.nullable(),
  organization: OrgConfirmationPolicy,
});
export type AgentConfirmation = z.infer<typeof AgentConfirmation>;

/** Everything about a conversation's agent that can change while it works. */
export const AgentSettings = z.object({
  /** With its key only where the agent needs another one. Absent: the agent keeps model and key. */
  model: LlmSettings.optional(),
  agentType: AgentType,
  limits: RunLimits,
  confirmation: AgentConfirmation,
});
export type AgentSettings = z.infer<typeof AgentSettings>;

/**
 * agent-server, `PUT /api/slipway/conversations/{id}/settings`: the settings hold from the agent's next step on.
 * An older version changes nothing and is no error; another epoch is refused with `ingest.stale-epoch`.
 */
export const ApplySettings = z.object({
  settings: AgentSettings,
  /**
   * Rises with every change of a setting, of the conversation or of its organization. The same version again is applied
   * again.
   */
  version: z.int().nonnegative(),
  /** Of the start that the settings are meant for. */
  epoch: z.int().positive(),
  /**
   * A user has just chosen the confirmation mode: it replaces what was set in the sandbox itself. Otherwise the
   * stricter of the two holds.
   */
  chosen: z.boolean().default(false),
  /** Changes nothing, whatever the version and epoch, and answers what would be refused. */
  dryRun: z.boolean().default(false),
  /**
   * Versions of the routes that 0.1.0 replaced (`earlier-settings.ts`), so that messages by either are put in one
   * order. Goes in 0.2.0.
   */
  earlierVersions: z.object({ runSettings: z.int().nonnegative(), confirmation: z.int().nonnegative() }).optional(),
});
export type ApplySettings = z.infer<typeof ApplySettings>;

/** What an agent cannot apply as it is now; everything else holds. */
export const RefusedSetting = z.object({
  setting: z.enum(['agentType', 'maxIterations', 'maxBudgetUsd']),
  code: z.enum(['conversation.busy', 'request.invalid']),
  detail: z.string().max(2_000),
});
export type RefusedSetting = z.infer<typeof RefusedSetting>;

export const AppliedSettings = z.object({
  /** The newest version that the agent has; -1 before the first. */
  version: z.int(),
  refused: z.array(RefusedSetting).max(20),
});
export type AppliedSettings = z.infer<typeof AppliedSettings>;
