import { z } from 'zod';
import { BROWSER_ACTIONS, BrowserObservation } from './browser.js';
import { FileEditAction } from './file-edit.js';
import { FileEditorAction, FileEditorObservation, PlanningFileEditorAction } from './file-editor.js';
import { IPythonRunCellAction, IPythonRunCellObservation } from './ipython.js';
import { MCPToolAction } from './mcp.js';
import { baseObservation } from './observation.js';
import { ApplyPatchAction, ApplyPatchObservation } from './patch.js';
import {
  GlobAction,
  GlobObservation,
  GrepAction,
  GrepObservation,
  ListDirectoryAction,
  ListDirectoryObservation,
} from './search.js';
import { InvokeSkillAction } from './skills.js';
import { DelegateAction, TaskAction } from './sub-agents.js';

/**
 * action-server, in the sandbox beside agent-server: header `X-Session-API-Key` holds a token that only these two
 * share. `POST /execute_action` answers when the action has ended. Closing the request kills what it started: the
 * process group, within a second. `POST /interrupt_terminal` does the same to a program that has outlived its action.
 */

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
export const ThinkAction = z.looseObject({ kind: z.literal('ThinkAction'), thought: z.string() });
export const FinishAction = z.looseObject({ kind: z.literal('FinishAction'), message: z.string() });
export type TaskTrackerAction = z.infer<typeof TaskTrackerAction>;
export type FinishAction = z.infer<typeof FinishAction>;

/** What runs in action-server. */
export const SandboxAction = z.discriminatedUnion('kind', [
  TerminalAction,
  FileEditorAction,
  ApplyPatchAction,
  IPythonRunCellAction,
  GlobAction,
  GrepAction,
  ListDirectoryAction,
  ...BROWSER_ACTIONS,
]);
export type SandboxAction = z.infer<typeof SandboxAction>;
/** Every action of the agent: the sandbox's, and those that the agent answers itself. */
export const AgentAction = z.discriminatedUnion('kind', [
  SandboxAction,
  FileEditAction,
  TaskTrackerAction,
  ThinkAction,
  FinishAction,
  TaskAction,
  DelegateAction,
  InvokeSkillAction,
  PlanningFileEditorAction,
  MCPToolAction,
]);
export type AgentAction = z.infer<typeof AgentAction>;

/** `call`: whoever knows it may ask for what a command prints meanwhile. */
export const ExecuteActionRequest = z.object({ action: SandboxAction, call: z.string().min(1).max(100).optional() });
/**
 * `GET /action/output?call=&after=&now=`: what a command printed beyond the first `after` code units, when there is
 * more, when it is over, or after some seconds; with `now` at once. `end` is the next `after`: more than that and the
 * text together where a part is no longer kept.
 */
export const CallOutputResponse = z.object({ text: z.string(), end: z.int().min(0), over: z.boolean() });
export type CallOutputResponse = z.infer<typeof CallOutputResponse>;

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
export const SandboxObservation = z.discriminatedUnion('kind', [
  TerminalObservation,
  FileEditorObservation,
  ApplyPatchObservation,
  IPythonRunCellObservation,
  GlobObservation,
  GrepObservation,
  ListDirectoryObservation,
  BrowserObservation,
]);
export type SandboxObservation = z.infer<typeof SandboxObservation>;
export const ExecuteActionResponse = z.object({ observation: SandboxObservation });

/**
 * `GET /unavailable-tools`: kinds of action that cannot be done in the sandbox's image, each with a sentence that says
 * so.
 */
export const UnavailableTools = z.object({ unavailable: z.record(z.string(), z.string()) });
export type UnavailableTools = z.infer<typeof UnavailableTools>;

/** Longest text of one observation; the middle is cut out and the whole is kept in a file. UTF-16 code units. */
export const MAX_OBSERVATION_LENGTH = 30_000;

/** `POST /bash/execute`: one command in a process group of its own, outside the agent's shell. `timeout` in seconds. */
export const RunCommandRequest = z.object({
  command: z.string().min(1),
  cwd: z.string().optional(),
  timeout: z.number().positive().max(3600),
  env: z.record(z.string(), z.string()).optional(),
});
export type RunCommandRequest = z.infer<typeof RunCommandRequest>;
/** Output is cut to its last 1 MiB a stream. `exitCode` -1 with `timedOut` after a kill. */
export const RunCommandResponse = z.object({
  exitCode: z.int(),
  timedOut: z.boolean(),
  stdout: z.string(),
  stderr: z.string(),
  elapsedMs: z.number(),
});
export type RunCommandResponse = z.infer<typeof RunCommandResponse>;

/**
 * `POST /configure`, at activation and when a conversation begins: the environment of every shell, where the agent's
 * shell begins (absent: the workspace), and which variables the browser may type by name, each with the one site that
 * takes it (`null`: only servers of the sandbox itself).
 */
export const ConfigureRequest = z.object({
  env: z.record(z.string(), z.string()),
  working_dir: z.string().min(1).max(4096).optional(),
  typed: z.record(z.string(), z.string().nullable()).default({}),
});
export type ConfigureRequest = z.infer<typeof ConfigureRequest>;
