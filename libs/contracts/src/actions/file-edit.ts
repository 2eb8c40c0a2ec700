import { z } from 'zod';
import { baseObservation } from './observation.js';
import type { ToolContract } from './tool-contract.js';

/** Most lines that one edit may work on. */
export const MAX_EDITED_LINES = 500;

/**
 * An edit that a model works out: `content` is a draft of the lines `start` to `end`, which may leave out what stays.
 * The agent answers it itself.
 */
export const FileEditAction = z.looseObject({
  kind: z.literal('FileEditAction'),
  /** Absolute. */
  path: z.string().min(1).max(4_096),
  content: z.string().max(200_000),
  /** First and last line of the file that the draft is of, from 1; -1 is the last of the file. */
  start: z.int().min(1).default(1),
  end: z.int().min(-1).default(-1),
});
export type FileEditAction = z.output<typeof FileEditAction>;

export const FileEditObservation = baseObservation.extend({
  kind: z.literal('FileEditObservation'),
  path: z.string(),
  prev_exist: z.boolean(),
  /** Of the lines that were worked on. */
  old_content: z.string().nullable(),
  new_content: z.string().nullable(),
});
export type FileEditObservation = z.infer<typeof FileEditObservation>;

export const FILE_EDIT_TOOL = {
  action: FileEditAction,
  observation: FileEditObservation,
  runsIn: 'agent',
  activity: 'file-change',
  hookNames: ['Edit', 'MultiEdit', 'Write'],
} as const satisfies ToolContract;
