import { z } from 'zod';
import type { ToolContract } from './tool-contract.js';

/** Reads a skill that the prompt lists. */
export const InvokeSkillAction = z.looseObject({
  kind: z.literal('InvokeSkillAction'),
  name: z.string().min(1).max(200),
});
export type InvokeSkillAction = z.infer<typeof InvokeSkillAction>;

/** A skill as a client of OpenHands hands it over with its agent (`agent.agent_context.skills`). */
export const GivenSkill = z.looseObject({
  name: z.string().min(1).max(200),
  content: z.string().max(1_000_000),
  description: z.string().nullish(),
  source: z.string().nullish(),
  trigger: z
    .looseObject({
      type: z.string(),
      keywords: z.array(z.string()).optional(),
      triggers: z.array(z.string()).optional(),
      paths: z.array(z.string()).optional(),
    })
    .nullish(),
  is_agentskills_format: z.boolean().default(false),
  disable_model_invocation: z.boolean().default(false),
});
export type GivenSkill = z.infer<typeof GivenSkill>;

export const SKILL_TOOL = {
  action: InvokeSkillAction,
  runsIn: 'agent',
  openhands: { action: ['name'], observation: ['skill_name'] },
} as const satisfies ToolContract;
