import { z } from 'zod';
import { ERROR_CODES } from '../errors/error-codes.js';

/** The way of a start, in order; OpenHands' nine names. READY and ERROR end it. */
export const START_STATUSES = [
  'WORKING',
  'WAITING_FOR_SANDBOX',
  'PREPARING_REPOSITORY',
  'RUNNING_SETUP_SCRIPT',
  'SETTING_UP_GIT_HOOKS',
  'SETTING_UP_SKILLS',
  'STARTING_CONVERSATION',
  'READY',
  'ERROR',
] as const;
export const StartStatus = z.enum(START_STATUSES);
export type StartStatus = z.infer<typeof StartStatus>;

/** One step as the user sees it: the value of a state update with key `start_task`, and an entry of `start.steps`. */
export const StartStep = z.object({
  /** Counts starts of one conversation: 1 is the first, a resume or recovery is the next. */
  attempt: z.int().positive(),
  status: StartStatus,
  state: z.enum(['running', 'done', 'skipped', 'failed']),
  startedAt: z.iso.datetime(),
  /** Milliseconds; absent while it runs. */
  elapsedMs: z.int().nonnegative().optional(),
  /** A sentence for the user: progress, or the sandbox's own reason. At most 4,000 characters. */
  detail: z.string().max(4000).optional(),
  /**
   * While it waits for a sandbox: its position, 1 is the next; how many waited when that position was reported; an
   * estimated time, `null` when unknown; and the reason of the wait.
   */
  queue: z
    .object({
      place: z.int().positive(),
      length: z.int().positive().optional(),
      estimateSeconds: z.number().nonnegative().nullable(),
      cause: z.enum(['organization-limit', 'pool', 'cluster']),
    })
    .optional(),
  /** Present on `failed`. */
  code: z.enum(ERROR_CODES).optional(),
});
export type StartStep = z.infer<typeof StartStep>;

/**
 * What became of the files of a conversation whose sandbox was given back: the value of a state update with key
 * `workspace`. `detail`: why they are not kept.
 */
export const WorkspaceState = z.object({
  state: z.enum(['saving', 'kept', 'not-kept', 'lost']),
  detail: z.string().max(1_000).optional(),
});
export type WorkspaceState = z.infer<typeof WorkspaceState>;
