import { parseConfig } from '@slipway/service';
import { logVariables } from '@slipway/telemetry';
import { z } from 'zod';

const secret = z.string().min(32, 'needs at least 32 characters');
const postgresUrl = z.url({ protocol: /^postgres(ql)?$/ });

export const RotateKeysConfigSchema = z.object({
  ...logVariables,
  /** DATABASE_URL of app-server. Secret. */
  DATABASE_APP_URL: postgresUrl,
  /** DATABASE_URL of runtime-api. Secret. */
  DATABASE_RUNTIME_URL: postgresUrl,
  /** Key that everything is encrypted with from now on. Secret. */
  ENCRYPTION_KEY: secret,
  /** Earlier key, which may still decrypt. Secret. */
  ENCRYPTION_KEY_PREVIOUS: secret.optional(),
  /** Organizations whose data key is older than this get a new one. Days; absent: none does; 0: all do. */
  ROTATE_DATA_KEYS_OLDER_THAN_DAYS: z.coerce.number().min(0).max(36_500).optional(),
});

/** @throws SlipwayError `config.invalid` that names every invalid variable, never its value. */
export function loadRotateKeysConfig(
  source: Readonly<Record<string, string | undefined>>,
): Readonly<z.infer<typeof RotateKeysConfigSchema>> {
  return parseConfig(RotateKeysConfigSchema, source);
}
