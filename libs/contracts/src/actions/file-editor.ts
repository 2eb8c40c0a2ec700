import { z } from 'zod';
import { baseObservation } from './observation.js';
import type { ToolContract } from './tool-contract.js';

export const FileEditorAction = z.looseObject({
  kind: z.literal('FileEditorAction'),
  command: z.enum(['view', 'create', 'str_replace', 'insert', 'undo_edit']),
  /** Absolute. */
  path: z.string().min(1).max(4_096),
  file_text: z.string().nullish(),
  old_str: z.string().nullish(),
  new_str: z.string().nullish(),
  /** New text goes after this line; 0 is before the first. */
  insert_line: z.int().min(0).nullish(),
  /** First and last line, from 1; -1 as the last is the end. */
  view_range: z.tuple([z.int(), z.int()]).nullish(),
});

/** The same for an agent that plans: only the plan may be changed. */
export const PlanningFileEditorAction = FileEditorAction.extend({ kind: z.literal('PlanningFileEditorAction') });
export type PlanningFileEditorAction = z.infer<typeof PlanningFileEditorAction>;

export const FileEditorObservation = baseObservation.extend({
  kind: z.literal('FileEditorObservation'),
  command: z.enum(['view', 'create', 'str_replace', 'insert', 'undo_edit']),
  path: z.string().nullable(),
  prev_exist: z.boolean(),
  old_content: z.string().nullable(),
  new_content: z.string().nullable(),
});

const OPENHANDS = {
  action: ['command', 'path', 'file_text', 'old_str', 'new_str', 'insert_line', 'view_range'],
  observation: ['command', 'path', 'prev_exist', 'old_content', 'new_content'],
} as const;

export const FILE_EDITOR_TOOL = {
  action: FileEditorAction,
  observation: FileEditorObservation,
  runsIn: 'sandbox',
  activity: 'file-change',
  hookNames: ['Edit', 'MultiEdit', 'Write', 'Read'],
  openhands: OPENHANDS,
} as const satisfies ToolContract;
export const PLANNING_FILE_EDITOR_TOOL = {
  action: PlanningFileEditorAction,
  runsIn: 'agent',
  activity: 'file-change',
  openhands: OPENHANDS,
} as const satisfies ToolContract;
