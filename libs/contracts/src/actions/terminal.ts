import { z } from 'zod';
import { baseObservation } from './observation.js';
import type { ToolContract } from './tool-contract.js';

/** The terminal that is used when none is named. */
export const MAIN_SESSION = 'main';

export const TerminalAction = z.looseObject({
  kind: z.literal('TerminalAction'),
  /**
   * Empty with `is_input: false` asks for more output of a running program. `C-c`, `C-d`, `C-z` with `is_input: true`
   * are keys.
   */
  command: z.string(),
  is_input: z.boolean().default(false),
  /**
   * Seconds without a result before the action answers with `exit_code: -1` and the program left running. Absent: 30 s
   * without output.
   */
  timeout: z.number().min(0).max(3600).nullish(),
  /** Start a new shell first. */
  reset: z.boolean().default(false),
  /** Which terminal: each name is a shell of its own, opened when it is first used. Absent: `main`. */
  session: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,40}$/, 'a name of letters, digits, - and _, at most 40')
    .nullish(),
});

export const TerminalObservation = baseObservation.extend({
  kind: z.literal('TerminalObservation'),
  command: z.string().nullable(),
  /** -1: still running when the action answered. */
  exit_code: z.int().nullable(),
  timeout: z.boolean(),
  metadata: z.looseObject({
    exit_code: z.int(),
    pid: z.int(),
    username: z.string().nullable(),
    hostname: z.string().nullable(),
    working_dir: z.string().nullable(),
    py_interpreter_path: z.string().nullable(),
    prefix: z.string(),
    suffix: z.string(),
  }),
  /** File in the sandbox that holds the whole output, when `content` was cut. */
  full_output_save_dir: z.string().nullable(),
  /** Absent for `main`. */
  session: z.string().optional(),
});

export const TERMINAL_TOOL = {
  action: TerminalAction,
  observation: TerminalObservation,
  runsIn: 'sandbox',
  activity: 'command',
  hookNames: ['Bash'],
  openhands: {
    action: ['command', 'is_input', 'timeout', 'reset'],
    observation: ['command', 'exit_code', 'timeout', 'metadata', 'full_output_save_dir'],
  },
} as const satisfies ToolContract;
