import { z } from 'zod';

/** A task for a sub-agent with a context of its own. `resume` is the `task_id` of an earlier one, which then goes on with what it knows. */
export const TaskAction = z.looseObject({
  kind: z.literal('TaskAction'),
  description: z.string().max(200).nullish(),
  prompt: z.string().min(1),
  subagent_type: z.string().default('general-purpose'),
  resume: z.string().nullish(),
});
export type TaskAction = z.infer<typeof TaskAction>;

/** A kind of sub-agent, as OpenHands defines them. Without `tools` it has all of its parent's but those that make sub-agents. */
export const AgentDefinition = z.looseObject({
  name: z.string().min(1).max(100),
  description: z.string().max(2_000).default(''),
  tools: z.array(z.string()).default([]),
  system_prompt: z.string().default(''),
  max_iteration_per_run: z.int().positive().nullish(),
});
export type AgentDefinition = z.infer<typeof AgentDefinition>;

/** Value of a state update with key `sub_agent`: an event of a sub-agent's own log. Nothing of it is in its parent's context. */
export const SubAgentEvent = z.looseObject({
  task_id: z.string(),
  /** The parent's action that it works for. */
  action_id: z.string(),
  subagent: z.string(),
  /** A ConversationEvent. */
  event: z.looseObject({ kind: z.string(), id: z.string() }),
});
export type SubAgentEvent = z.infer<typeof SubAgentEvent>;
