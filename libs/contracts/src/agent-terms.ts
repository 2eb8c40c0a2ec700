import { z } from 'zod';

/** `default` works; `plan` looks, asks and writes PLAN.md, and changes nothing else. */
export const AGENT_TYPES = ['default', 'plan'] as const;
export const AgentType = z.enum(AGENT_TYPES);
export type AgentType = z.infer<typeof AgentType>;

/** agent-server, `POST /api/slipway/conversations/{id}/terms`: absent stays; `null` takes a limit away. US dollars. */
export const AgentTerms = z.object({
  agent_type: AgentType.optional(),
  max_iterations: z.int().positive().nullable().optional(),
  max_budget_per_task: z.number().positive().nullable().optional(),
});
export type AgentTerms = z.infer<typeof AgentTerms>;
