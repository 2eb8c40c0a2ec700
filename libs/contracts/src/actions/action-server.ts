import { z } from 'zod';
import { SandboxAction, SandboxObservation } from './tools.js';

/**
 * action-server, in the sandbox beside agent-server: header `X-Session-API-Key` holds a token that only these two
 * share. `POST /execute_action` answers when the action has ended. Closing the request kills what it started: the
 * process group, within a second. `POST /interrupt_terminal` does the same to a program that has outlived its action.
 */

/**
 * `call`: whoever knows it may ask for what a command prints meanwhile. `actionId`: of the action's event, by which
 * egress-proxy knows what its command asks for.
 */
export const ExecuteActionRequest = z.object({
  action: SandboxAction,
  call: z.string().min(1).max(100).optional(),
  actionId: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,100}$/)
    .optional(),
});
/**
 * `GET /action/output?call=&after=&now=`: what a command printed beyond the first `after` code units, when there is
 * more, when it is over, or after some seconds; with `now` at once. `end` is the next `after`: more than that and the
 * text together where a part is no longer kept.
 */
export const CallOutputResponse = z.object({ text: z.string(), end: z.int().min(0), over: z.boolean() });
export type CallOutputResponse = z.infer<typeof CallOutputResponse>;

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
