import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { markOf, refuseDowngrade } from './downgrade.js';
import { applyFunctions } from './functions.js';
import { changeRole, inTransaction } from './repeatable.js';
import { SCHEMAS, type Schema } from './schemas.js';

/**
 * Roles that log in, as `slipway_<role>`: one a schema, and sandbox-gateway's, which reads a little of `app` and has no
 * schema of its own.
 */
export const ROLES = [...SCHEMAS, 'sandbox'] as const;
export type Role = (typeof ROLES)[number];

export interface MigrateOptions {
  /** Connects as the owner of the schemas, who may create roles. */
  readonly ownerUrl: string;
  /** The repository's `prisma/` folder. */
  readonly directory: string;
  /** Password of each `slipway_<role>`. */
  readonly passwords: Readonly<Record<Role, string>>;
  readonly log: (line: string) => void;
}

/** Any number, the same for everyone who migrates. */
const LOCK_KEY = 7_215_309;

/**
 * Brings every schema to the newest migration and its functions to the text of their files, under an advisory lock so
 * that several replicas may start at once. Each migration is one transaction, and so are the functions of a schema. The
 * history is Prisma's own table; `prisma migrate deploy` reads it, and knows nothing of functions.
 *
 * @throws Error when a newer version has migrated the database past what this one knows, a migration that was applied
 * has been edited, or one fails; nothing of that one stays. Functions: as `applyFunctions`.
 */
export async function migrate(options: MigrateOptions): Promise<{ applied: string[]; functions: string[] }> {
  const client = new pg.Client({ connectionString: options.ownerUrl, application_name: 'slipway-migrate' });
  await client.connect();
  const applied: string[] = [];
  const functions: string[] = [];
  try {
    await client.query('SELECT pg_advisory_lock($1)', [LOCK_KEY]);
    await refuseDowngrade(client, SCHEMAS, options.directory, options.log);
    await ensureRole(client, 'slipway_sandbox', { password: options.passwords.sandbox, log: options.log });
    for (const schema of SCHEMAS) {
      await ensureRoles(client, schema, options);
      await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
      await client.query(HISTORY_TABLE(schema));
      applied.push(
        ...(await migrateSchema(client, schema, path.join(options.directory, schema, 'migrations'), options.log)),
      );
      await client.query(HISTORY_IS_THE_OWNERS(schema));
    }
    for (const schema of SCHEMAS)
      functions.push(...(await applyFunctions(client, schema, options.directory, options.log)));
  } finally {
    await client.end();
  }
  return { applied, functions };
}

/** The owner's connection string, as the non-owner role of one service. */
export function serviceUrl(ownerUrl: string, role: Role, password: string): string {
  const url = new URL(ownerUrl);
  url.username = `slipway_${role}`;
  url.password = password;
  return url.href;
}

async function migrateSchema(
  client: pg.Client,
  schema: Schema,
  directory: string,
  log: (line: string) => void,
): Promise<string[]> {
  const names = (await readdir(directory, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
  const history = await client.query<{ migration_name: string; checksum: string }>(
    `SELECT migration_name, checksum FROM ${schema}._prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`,
  );
  const done = new Map(history.rows.map((row) => [row.migration_name, row.checksum]));
  const applied: string[] = [];
  for (const name of names) {
    const sql = await readFile(path.join(directory, name, 'migration.sql'), 'utf8');
    const checksum = createHash('sha256').update(sql).digest('hex');
    const before = done.get(name);
    if (before === checksum) continue;
    if (before !== undefined)
      throw new Error(
        `prisma/${schema}/migrations/${name} was changed after it was applied; write a new migration instead`,
      );
    await inTransaction(client, { name: `${schema}/${name}`, log }, async () => {
      await client.query(sql);
      await client.query(
        `INSERT INTO ${schema}._prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count, logs) VALUES ($1, $2, $3, now(), now(), 1, $4)`,
        [randomUUID(), checksum, name, markOf(sql)],
      );
    }).catch((error: Error) => {
      throw new Error(`migration ${schema}/${name} failed and was rolled back: ${error.message}`, { cause: error });
    });
    log(`applied ${schema}/${name}`);
    applied.push(`${schema}/${name}`);
  }
  return applied;
}

/**
 * `slipway_<schema>` logs in and owns nothing; `slipway_<schema>_system` is entered with SET LOCAL ROLE and never
 * inherited.
 */
async function ensureRoles(client: pg.Client, schema: Schema, { passwords, log }: MigrateOptions): Promise<void> {
  const role = `slipway_${schema}`;
  await ensureRole(client, role, { password: passwords[schema], log });
  await ensureRole(client, `${role}_system`, { password: null, log });
  await changeRole(client, log, `GRANT ${role}_system TO ${role} WITH INHERIT FALSE, SET TRUE`);
}

/** Without a password it does not log in. */
async function ensureRole(
  client: pg.Client,
  name: string,
  { password, log }: { password: string | null; log: (line: string) => void },
): Promise<void> {
  const exists = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [name]);
  if (exists.rowCount === 0)
    await client.query(
      `CREATE ROLE ${name} ${password === null ? 'NOLOGIN' : 'LOGIN'} NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE`,
    );
  if (password !== null) await changeRole(client, log, `ALTER ROLE ${name} PASSWORD ${client.escapeLiteral(password)}`);
}

/**
 * Whoever may write the history decides what the next upgrade runs. Revoked each time: a migration may grant rights on
 * all tables of its schema.
 */
const HISTORY_IS_THE_OWNERS = (schema: Schema): string =>
  `REVOKE ALL ON ${schema}._prisma_migrations FROM PUBLIC, slipway_sandbox, slipway_${schema}, slipway_${schema}_system`;

const HISTORY_TABLE = (schema: Schema): string => `CREATE TABLE IF NOT EXISTS ${schema}._prisma_migrations (
  id varchar(36) PRIMARY KEY, checksum varchar(64) NOT NULL, finished_at timestamptz, migration_name varchar(255) NOT NULL,
  logs text, rolled_back_at timestamptz, started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0)`;
