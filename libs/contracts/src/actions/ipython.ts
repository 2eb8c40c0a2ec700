import { z } from 'zod';
import { baseObservation } from './observation.js';
import type { ToolContract } from './tool-contract.js';

/** Longest cell. UTF-16 code units. */
export const MAX_CELL_LENGTH = 1_000_000;

export const IPythonRunCellAction = z.looseObject({
  kind: z.literal('IPythonRunCellAction'),
  code: z.string().max(MAX_CELL_LENGTH),
  /** Ends the answer with the directory and the interpreter of the kernel. */
  include_extra: z.boolean().default(true),
  /** Seconds; then the cell is interrupted [120]. */
  timeout: z.number().positive().max(3600).nullish(),
  /** A new kernel first: its variables are gone. */
  reset: z.boolean().default(false),
});
export type IPythonRunCellAction = z.output<typeof IPythonRunCellAction>;

export const IPythonRunCellObservation = baseObservation.extend({
  kind: z.literal('IPythonRunCellObservation'),
  code: z.string(),
  /** Of the kernel, from 1; `null` when the cell was not run. */
  execution_count: z.int().nullable(),
  timeout: z.boolean(),
  /** File in the sandbox that holds the whole text, when `content` was cut. */
  full_output_save_dir: z.string().nullable(),
});
export type IPythonRunCellObservation = z.infer<typeof IPythonRunCellObservation>;

export const IPYTHON_TOOL = {
  action: IPythonRunCellAction,
  observation: IPythonRunCellObservation,
  runsIn: 'sandbox',
  activity: 'command',
} as const satisfies ToolContract;
