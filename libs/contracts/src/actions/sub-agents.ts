import { z } from 'zod';
import { baseObservation } from './observation.js';
import type { ToolContract } from './tool-contract.js';

/**
 * A task for a sub-agent with a context of its own. `resume` is the `task_id` of an earlier one, which then goes on
 * with what it knows.
 */
export const TaskAction = z.looseObject({
  kind: z.literal('TaskAction'),
  description: z.string().max(200).nullish(),
  prompt: z.string().min(1),
  subagent_type: z.string().default('general-purpose'),
  resume: z.string().nullish(),
});
export type TaskAction = z.infer<typeof TaskAction>;

/** Most sub-agents of one conversation that have names, as in OpenHands. */
export const MAX_NAMED_SUB_AGENTS = 5;

/**
 * `spawn` names sub-agents (`ids`, each of the kind at its place in `agent_types`); `delegate` lets them work on
 * `tasks`, by their names, beside each other. As in OpenHands.
 */
export const DelegateAction = z.looseObject({
  kind: z.literal('DelegateAction'),
  command: z.enum(['spawn', 'delegate']),
  ids: z.array(z.string().trim().min(1).max(60)).max(50).nullish(),
  agent_types: z.array(z.string().max(100)).max(50).nullish(),
  tasks: z.record(z.string(), z.string().min(1)).nullish(),
});
export type DelegateAction = z.infer<typeof DelegateAction>;

/** What became of one task of a `delegate`. */
export const DelegatedTask = z.looseObject({
  id: z.string(),
  subagent: z.string(),
  task_id: z.string(),
  status: z.string(),
});
/** `agents` is ours: who worked, and how each ended. */
export const DelegateObservation = baseObservation.extend({
  kind: z.literal('DelegateObservation'),
  command: z.enum(['spawn', 'delegate']),
  agents: z.array(DelegatedTask).default([]),
});
export type DelegateObservation = z.infer<typeof DelegateObservation>;

/**
 * A kind of sub-agent, as OpenHands defines them. Without `tools` it has all of its parent's but those that make
 * sub-agents.
 */
export const AgentDefinition = z.looseObject({
  name: z.string().min(1).max(100),
  description: z.string().max(2_000).default(''),
  tools: z.array(z.string()).default([]),
  system_prompt: z.string().default(''),
  max_iteration_per_run: z.int().positive().nullish(),
});
export type AgentDefinition = z.infer<typeof AgentDefinition>;

/**
 * Value of a state update with key `sub_agent`: an event of a sub-agent's own log. Nothing of it is in its parent's
 * context.
 */
export const SubAgentEvent = z.looseObject({
  task_id: z.string(),
  /** The parent's action that it works for. */
  action_id: z.string(),
  subagent: z.string(),
  /** A ConversationEvent. */
  event: z.looseObject({ kind: z.string(), id: z.string() }),
});
export type SubAgentEvent = z.infer<typeof SubAgentEvent>;

export const SUB_AGENT_TOOLS = [
  {
    action: TaskAction,
    runsIn: 'agent',
    hookNames: ['Task'],
    openhands: {
      action: ['description', 'prompt', 'subagent_type', 'resume', 'max_turns'],
      observation: ['task_id', 'subagent', 'status'],
    },
  },
  {
    action: DelegateAction,
    observation: DelegateObservation,
    runsIn: 'agent',
    hookNames: ['Task'],
    openhands: { action: ['command', 'ids', 'agent_types', 'tasks'], observation: ['command'] },
  },
] as const satisfies readonly ToolContract[];
