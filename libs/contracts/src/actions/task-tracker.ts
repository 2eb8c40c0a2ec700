import { z } from 'zod';
import type { ToolContract } from './tool-contract.js';

export const TaskItem = z.object({
  title: z.string(),
  notes: z.string().default(''),
  status: z.enum(['todo', 'in_progress', 'done']).default('todo'),
});
export const TaskTrackerAction = z.looseObject({
  kind: z.literal('TaskTrackerAction'),
  command: z.enum(['view', 'plan']),
  task_list: z.array(TaskItem).default([]),
});
export type TaskTrackerAction = z.infer<typeof TaskTrackerAction>;

export const TASK_TRACKER_TOOL = {
  action: TaskTrackerAction,
  runsIn: 'agent',
  hookNames: ['TodoWrite'],
  openhands: { action: ['command', 'task_list'], observation: ['command', 'task_list'] },
} as const satisfies ToolContract;
