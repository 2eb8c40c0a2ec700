import { z } from 'zod';
import type { ToolContract } from './tool-contract.js';

export const ThinkAction = z.looseObject({ kind: z.literal('ThinkAction'), thought: z.string() });
export const FinishAction = z.looseObject({ kind: z.literal('FinishAction'), message: z.string() });
export type FinishAction = z.infer<typeof FinishAction>;

export const THINK_TOOL = {
  action: ThinkAction,
  runsIn: 'agent',
  openhands: { action: ['thought'], observation: [] },
} as const satisfies ToolContract;
export const FINISH_TOOL = {
  action: FinishAction,
  runsIn: 'agent',
  openhands: { action: ['message'], observation: [] },
} as const satisfies ToolContract;
