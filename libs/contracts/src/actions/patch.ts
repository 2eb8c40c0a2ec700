import { z } from 'zod';
import { baseObservation } from './observation.js';
import type { ToolContract } from './tool-contract.js';

/** Longest patch. UTF-16 code units. */
export const MAX_PATCH_LENGTH = 10 * 1024 * 1024;

/** Edits of many files in the form `*** Begin Patch … *** End Patch`, done whole or not at all. */
export const ApplyPatchAction = z.looseObject({
  kind: z.literal('ApplyPatchAction'),
  patch: z.string().min(1).max(MAX_PATCH_LENGTH),
});
export type ApplyPatchAction = z.output<typeof ApplyPatchAction>;

/** Contents are `null` where there are none, or they are long. */
export const PatchedFile = z.object({
  type: z.enum(['add', 'delete', 'update']),
  old_content: z.string().nullable(),
  new_content: z.string().nullable(),
  move_path: z.string().nullable(),
});
export type PatchedFile = z.infer<typeof PatchedFile>;

export const ApplyPatchObservation = baseObservation.extend({
  kind: z.literal('ApplyPatchObservation'),
  message: z.string(),
  /** 0 when all the context was found as it was given; more, the further the search had to go. */
  fuzz: z.int(),
  /** By absolute path; `null` when nothing was changed. */
  commit: z.object({ changes: z.record(z.string(), PatchedFile) }).nullable(),
});
export type ApplyPatchObservation = z.infer<typeof ApplyPatchObservation>;

export const PATCH_TOOL = {
  action: ApplyPatchAction,
  observation: ApplyPatchObservation,
  runsIn: 'sandbox',
  activity: 'file-change',
  hookNames: ['Edit', 'MultiEdit'],
  openhands: { action: ['patch'], observation: ['message', 'fuzz', 'commit'] },
} as const satisfies ToolContract;
