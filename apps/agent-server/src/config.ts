import { parseConfig } from '@slipway/service';
import { logVariables } from '@slipway/telemetry';
import { z } from 'zod';

export const ConfigSchema = z.object({
  /** Address to listen on. */
  HOST: z.string().default('127.0.0.1'),
  /** Port to listen on; 0 takes any free one, written to `STATE_DIR/listening.json`. */
  PORT: z.coerce.number().int().min(0).max(65_535).default(0),
  ...logVariables,
  /** Slot of this sandbox, with the incarnation of its pod. An activation for another slot is refused. */
  SLOT_ID: z.string().min(1),
  POD_UID: z.string().min(1),
  /** Folder of the activation latch and the conversation logs. Outlives the process. */
  STATE_DIR: z.string().min(1),
  /** The agent's project directory, shared with action-server. */
  WORKSPACE_DIR: z.string().min(1),
  /** Public key that activations are verified with. Ed25519, SPKI DER, base64. */
  ACTIVATION_PUBLIC_KEY: z.string().min(40),
  /** Interval of the warm-ups of a blank sandbox, jittered by a fifth. Seconds; 0: one warm-up at the start. */
  WARM_EVERY_SECONDS: z.coerce.number().min(0).max(3_600).default(60),
  /**
   * Limit of what is saved of the conversations' logs, unpacked. Bytes; absent: the size of the volume of STATE_DIR.
   */
  ARCHIVE_MAX_BYTES: z.coerce.number().int().positive().optional(),
  /**
   * How long a sandbox in use still serves its workspace after SIGTERM, so that a drain or an eviction cannot end it
   * unsaved. Seconds; 0: not at all. The platform ends the sandbox as soon as the workspace is saved.
   */
  STOP_GRACE_SECONDS: z.coerce.number().int().min(0).max(3_600).default(0),
  ACTION_SERVER_URL: z.url({ protocol: /^https?$/ }),
  /** Shared with action-server alone. Secret. */
  ACTION_SERVER_TOKEN: z.string().min(32),
});

export type Config = Readonly<z.infer<typeof ConfigSchema>>;

/** @throws SlipwayError `config.invalid` that names every invalid variable, never its value. */
export function loadConfig(source: Readonly<Record<string, string | undefined>>): Config {
  return parseConfig(ConfigSchema, source);
}
