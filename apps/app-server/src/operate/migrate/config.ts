import { parseConfig } from '@slipway/service';
import { logVariables } from '@slipway/telemetry';
import { z } from 'zod';

const postgresUrl = z.url({ protocol: /^postgres(ql)?$/ });

/** Connection string of one service's own role: the migration creates the role with this password. */
const roleUrl = (role: string) =>
  postgresUrl.refine((value) => {
    const { username, password } = new URL(value);
    return username === role && password !== '';
  }, `needs the user ${role} and a password`);

export const MigrateConfigSchema = z.object({
  ...logVariables,
  /** Postgres as the owner of the schemas, with the right to create roles. Secret. */
  DATABASE_OWNER_URL: postgresUrl,
  /** DATABASE_URL of app-server and worker. Secret. */
  DATABASE_APP_URL: roleUrl('slipway_app'),
  /** DATABASE_URL of runtime-api. Secret. */
  DATABASE_RUNTIME_URL: roleUrl('slipway_runtime'),
  /** DATABASE_URL of llm-gateway. Secret. */
  DATABASE_GATEWAY_URL: roleUrl('slipway_gateway'),
  /** DATABASE_URL of sandbox-gateway. Secret. */
  DATABASE_SANDBOX_URL: roleUrl('slipway_sandbox'),
  /** Folder of the migrations, `<schema>/migrations/…`; beside the program in the image. */
  MIGRATIONS_DIR: z.string().min(1).optional(),
  /**
   * Longest wait for a Postgres that accepts no connections yet. Seconds; the failure comes at most 6 s later, after
   * the last attempt.
   */
  MIGRATE_WAIT_SECONDS: z.coerce.number().int().min(0).max(3600).default(50),
});

/** @throws SlipwayError `config.invalid` that names every invalid variable, never its value. */
export function loadMigrateConfig(
  source: Readonly<Record<string, string | undefined>>,
): Readonly<z.infer<typeof MigrateConfigSchema>> {
  return parseConfig(MigrateConfigSchema, source);
}
