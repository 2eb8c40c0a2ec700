import { parseConfig } from '@slipway/errors';
import { logVariables } from '@slipway/telemetry';
import { z } from 'zod';

const postgresUrl = z.url({ protocol: /^postgres(ql)?$/ });

/** The connection string of one service's own role: the migration makes the role with this password. */
const roleUrl = (role: string) =>
  postgresUrl.refine((value) => {
    const { username, password } = new URL(value);
    return username === role && password !== '';
  }, `needs the user ${role} and a password`);

export const MigrateConfigSchema = z.object({
  ...logVariables,
  /** Postgres as the owner of the schemas, who may create roles. Secret. */
  DATABASE_OWNER_URL: postgresUrl,
  /** What app-server and worker have as DATABASE_URL. Secret. */
  DATABASE_APP_URL: roleUrl('slipway_app'),
  /** What runtime-api has as DATABASE_URL. Secret. */
  DATABASE_RUNTIME_URL: roleUrl('slipway_runtime'),
  /** What llm-gateway has as DATABASE_URL. Secret. */
  DATABASE_GATEWAY_URL: roleUrl('slipway_gateway'),
  /** What sandbox-gateway has as DATABASE_URL. Secret. */
  DATABASE_SANDBOX_URL: roleUrl('slipway_sandbox'),
  /** Folder of the migrations, `<schema>/migrations/…`; in the image beside the program. */
  MIGRATIONS_DIR: z.string().min(1).optional(),
  /** Longest wait for a Postgres that does not take connections yet. Seconds; with the last try under way it fails at most 6 s later. */
  MIGRATE_WAIT_SECONDS: z.coerce.number().int().min(0).max(3600).default(50),
});

/** @throws SlipwayError `config.invalid` that names every wrong variable, never its value. */
export function loadMigrateConfig(source: Readonly<Record<string, string | undefined>>): Readonly<z.infer<typeof MigrateConfigSchema>> {
  return parseConfig(MigrateConfigSchema, source);
}
