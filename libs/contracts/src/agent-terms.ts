import { z } from 'zod';

/** `default` works; `plan` looks, asks and writes PLAN.md, and changes nothing else. */
export const AGENT_TYPES = ['default', 'plan'] as const;
export const AgentType = z.enum(AGENT_TYPES);
export type AgentType = z.infer<typeof AgentType>;

/**
 * agent-server, `POST /api/slipway/conversations/{id}/terms`: absent stays; `null` takes a limit away. US dollars.
 * `…/terms/check` says whether it would be refused, and changes nothing.
 */
export const AgentTerms = z.object({
  agent_type: AgentType.optional(),
  max_iterations: z.int().positive().nullable().optional(),
  max_budget_per_task: z.number().positive().nullable().optional(),
  /** Of what it says: what is older than another that came before changes nothing, and is no error. */
  version: z.int().nonnegative().optional(),
  /** Of the start that it is meant for; another one refuses it as `ingest.stale-epoch`. */
  epoch: z.int().positive().optional(),
});
export type AgentTerms = z.infer<typeof AgentTerms>;
