import { z } from 'zod';

/** runtime-api, header `X-API-Key`. Field names are OpenHands' (snake_case), because its clients call it. */

/** Sandboxes come in these multiples of the pool's base size. */
export const RESOURCE_FACTORS = [1, 2, 4, 8] as const;

/**
 * Prefix of the id of a brief session, as for a test of an MCP server: runtime-api ends it after
 * `BRIEF_SESSION_SECONDS`, in case its caller has died meanwhile.
 */
export const BRIEF_SESSION_PREFIX = 'slipway-brief-';
export const BRIEF_SESSION_SECONDS = 600;

/**
 * `POST /start`. Repeating it with the same `session_id` answers with the running sandbox; with another body under the
 * same idempotency it is a 422.
 */
export const StartRuntime = z.looseObject({
  session_id: z.string().min(1).max(200),
  image: z.string().max(500).optional(),
  /** A string (SDK) or a list (app server); kept for the record, blank sandboxes are already running. */
  command: z.union([z.string(), z.array(z.string())]).optional(),
  working_dir: z.string().optional(),
  /** Reaches the sandbox at activation, after the claim is committed and never before. */
  environment: z.record(z.string(), z.string()).optional(),
  /**
   * A multiple of the template's base size; the template says which there are (`RESOURCE_FACTORS` at most). Left out:
   * the template's first.
   */
  resource_factor: z.number().optional(),
  runtime_class: z.string().optional(),
  run_as_user: z.int().optional(),
  run_as_group: z.int().optional(),
  fs_group: z.int().optional(),
  image_pull_policy: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  /** When sandboxes are short, what is `batch` is served after the organization's other sessions. */
  priority: z.enum(['interactive', 'batch']).optional(),
});
export type StartRuntime = z.infer<typeof StartRuntime>;

export const RuntimeId = z.looseObject({ runtime_id: z.string().min(1) });

export const RUNTIME_STATUSES = ['starting', 'running', 'paused', 'stopped', 'error'] as const;
export const POD_STATUSES = [
  'ready',
  'not found',
  'pending',
  'running',
  'failed',
  'unknown',
  'crashloopbackoff',
] as const;

/** One runtime, as `/start /resume /sessions/{id} /sessions/batch /list /runtime/{id}` answer it. */
export const Runtime = z.looseObject({
  runtime_id: z.string(),
  session_id: z.string(),
  /** Where agent-server answers. */
  url: z.string(),
  session_api_key: z.string(),
  /** sandbox-gateway's key for agent-server; only where it is asked for (`WANTS_GATEWAY_KEY_HEADER`). */
  gateway_api_key: z.string().optional(),
  /** For OpenHands' app server. */
  status: z.enum(RUNTIME_STATUSES),
  /** For OpenHands' SDK: `ready` on the first poll after a warm claim. */
  pod_status: z.enum(POD_STATUSES),
  restart_count: z.int(),
  restart_reasons: z.array(z.string()),
  /** Directory that holds the repository, as seen inside the sandbox. */
  working_dir: z.string(),
  /** A sentence when `status` is `error` or `starting`. */
  status_detail: z.string().optional(),
  /**
   * What became of the files, without a sandbox. `saving`: on their way to where they are kept. `not-kept`: that fails,
   * `detail` says why; the sandbox stays meanwhile and it is tried again.
   */
  workspace: z
    .object({ state: z.enum(['saving', 'kept', 'not-kept', 'lost']), detail: z.string().optional() })
    .optional(),
  work_hosts: z.record(z.string(), z.int()),
});
export type Runtime = z.infer<typeof Runtime>;
export const RuntimeList = z.object({ runtimes: z.array(Runtime) });

/**
 * What a caller adds for multi-tenancy: the organization that the sandbox belongs to. Without it the key's own
 * organization is used.
 */
export const ORG_HEADER = 'x-slipway-org';

/**
 * `GET /fleet`: the organization's sandboxes that run or are on their way, without their keys, newest 1,000; for
 * admins' screens.
 */
export const FleetSandbox = z.object({
  session_id: z.string(),
  status: z.enum(['starting', 'running']),
  /** Why, in words; empty when there is nothing to say. */
  detail: z.string(),
  /** `null`: not known, or a place without nodes. */
  node: z.string().nullable(),
  /** `warm`: it stood ready for more than a second before it was given out. `null`: it has not been given out yet. */
  start: z.enum(['warm', 'cold']).nullable(),
  template: z.string().nullable(),
  size: z.int().positive().nullable(),
  restarts: z.int().nonnegative(),
  started_at: z.iso.datetime(),
});
/** `GET /queue`: sessions of the organization that wait for a sandbox, and its quota. */
export const QueuedSession = z.object({
  session_id: z.string(),
  position: z.int().positive(),
  /** `null`: cannot be said. */
  estimate_seconds: z.number().nonnegative().nullable(),
  reason: z.string(),
  since: z.iso.datetime(),
});
export const RuntimeFleet = z.object({ sandboxes: z.array(FleetSandbox) });
export type RuntimeFleet = z.infer<typeof RuntimeFleet>;
/** `in_use` and `limit` count multiples of a template's resources. */
export const RuntimeQueue = z.object({
  waiting: z.array(QueuedSession),
  in_use: z.int().nonnegative(),
  limit: z.int().nonnegative(),
});
export type RuntimeQueue = z.infer<typeof RuntimeQueue>;
