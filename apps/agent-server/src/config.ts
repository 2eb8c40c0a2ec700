import { parseConfig } from '@slipway/errors';
import { logVariables } from '@slipway/telemetry';
import { z } from 'zod';

export const ConfigSchema = z.object({
  /** Address to listen on. */
  HOST: z.string().default('127.0.0.1'),
  /** 0 takes a free one; which is written to `STATE_DIR/listening.json`. */
  PORT: z.coerce.number().int().min(0).max(65_535).default(0),
  ...logVariables,
  /** The slot that this sandbox is, and the incarnation of its machine: an activation for another is refused. */
  SLOT_ID: z.string().min(1),
  POD_UID: z.string().min(1),
  /** Activation latch and conversation logs. Outlives the process. */
  STATE_DIR: z.string().min(1),
  /** The agent's project directory, shared with action-server. */
  WORKSPACE_DIR: z.string().min(1),
  /** Ed25519, SPKI DER, base64: whose signature activates this sandbox. */
  ACTIVATION_PUBLIC_KEY: z.string().min(40),
  /** Seconds from one warm-up of a blank sandbox to the next, a fifth more or less; 0: only the one at its start. */
  WARM_EVERY_SECONDS: z.coerce.number().min(0).max(3_600).default(60),
  /** Most that is kept of the conversations' logs, unpacked. Bytes; absent: the size of the volume of STATE_DIR. */
  ARCHIVE_MAX_BYTES: z.coerce.number().int().positive().optional(),
  /**
   * How long a sandbox in use answers for its workspace after SIGTERM, so that it is kept before a drain or an eviction ends it. Seconds; 0: not at all.
   * The platform ends it sooner, as soon as the workspace is kept.
   */
  STOP_GRACE_SECONDS: z.coerce.number().int().min(0).max(3_600).default(0),
  ACTION_SERVER_URL: z.url({ protocol: /^https?$/ }),
  /** Shared with action-server alone. Secret. */
  ACTION_SERVER_TOKEN: z.string().min(32),
});

export type Config = Readonly<z.infer<typeof ConfigSchema>>;

/** @throws SlipwayError `config.invalid` that names every wrong variable, never its value. */
export function loadConfig(source: Readonly<Record<string, string | undefined>>): Config {
  return parseConfig(ConfigSchema, source);
}
