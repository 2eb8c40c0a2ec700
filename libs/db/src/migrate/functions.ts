import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type pg from 'pg';
import { inTransaction } from './repeatable.js';
import type { Schema } from './schemas.js';

/**
 * Beside the files of a schema: of each the version, made by `npm run generate` when its text changes, and the hash of
 * the text.
 */
export const VERSIONS_FILE = 'versions.json';

export interface FunctionVersion {
  /** When its text was last changed: YYYYMMDDhhmmss, UTC. */
  readonly version: string;
  readonly sha256: string;
}

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

interface FunctionFile extends FunctionVersion {
  readonly name: string;
  readonly sql: string;
}

/** Name of the table that records what was applied. The owner's alone, as the history of migrations is. */
const FUNCTIONS_TABLE = '_slipway_functions';

/**
 * Applies the files of `prisma/<schema>/functions` whose text is not the database's, all in one transaction, and
 * records their hashes. For the holder of the migrations' lock, after the migrations. A file that is older than what
 * the database has is left out: a newer version of Slipway has applied its own, and those are made to serve older
 * callers too.
 *
 * @returns `schema/functions/name` of each that was applied.
 * @throws Error that names the file when it fails, changes a signature or makes something else; nothing has changed in
 * this schema's functions then.
 */
export async function applyFunctions(
  client: pg.Client,
  schema: Schema,
  directory: string,
  log: (line: string) => void,
): Promise<string[]> {
  const files = await readFunctions(path.join(directory, schema, 'functions'));
  await client.query(
    `CREATE TABLE IF NOT EXISTS ${schema}.${FUNCTIONS_TABLE} (name text PRIMARY KEY, version text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now());
     REVOKE ALL ON ${schema}.${FUNCTIONS_TABLE} FROM PUBLIC, slipway_sandbox, slipway_${schema}, slipway_${schema}_system`,
  );
  const { rows } = await client.query<{ name: string; version: string; checksum: string; there: boolean }>(
    `SELECT name, version, checksum, EXISTS (SELECT FROM pg_proc WHERE pronamespace = $1::regnamespace AND proname = name) AS there FROM ${schema}.${FUNCTIONS_TABLE}`,
    [schema],
  );
  const recorded = new Map(rows.map((row) => [row.name, row]));
  const differing = files.filter((file) => !sameAs(file, recorded.get(file.name)));
  const newer = differing.filter((file) => file.version < (recorded.get(file.name)?.version ?? ''));
  if (newer.length > 0)
    log(`functions of ${schema} are of a newer version, and stay: ${newer.map((file) => file.name).join(', ')}`);
  const stale = differing.filter((file) => !newer.includes(file));
  if (stale.length === 0) return [];

  await inTransaction(client, { name: `functions of ${schema}`, log }, async () => {
    // One may name another that comes after it: bodies are checked when all exist.
    await client.query('SET LOCAL check_function_bodies = off');
    for (const file of stale) await applyOne(client, schema, file);
    await client.query('SET LOCAL check_function_bodies = on');
    await checkAll(client, schema, stale);
    await client.query(
      `INSERT INTO ${schema}.${FUNCTIONS_TABLE} (name, version, checksum) SELECT * FROM unnest($1::text[], $2::text[], $3::text[])
       ON CONFLICT (name) DO UPDATE SET version = excluded.version, checksum = excluded.checksum, applied_at = now()`,
      [stale.map((file) => file.name), stale.map((file) => file.version), stale.map((file) => file.sha256)],
    );
  });
  log(
    `applied ${stale.length} functions of ${schema}${stale.length > 10 ? '' : `: ${stale.map((file) => file.name).join(', ')}`}`,
  );
  return stale.map((file) => `${schema}/functions/${file.name}`);
}

/**
 * A later version of the same text is recorded too: an older text must lose against it. A migration may have dropped
 * the function.
 */
function sameAs(
  file: FunctionFile,
  recorded: { version: string; checksum: string; there: boolean } | undefined,
): boolean {
  return recorded?.checksum === file.sha256 && recorded.version >= file.version && recorded.there;
}

/** By name. A folder that is not there has none. */
async function readFunctions(directory: string): Promise<FunctionFile[]> {
  const entries = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (entries.length === 0) return [];
  const versions = JSON.parse(await readFile(path.join(directory, VERSIONS_FILE), 'utf8')) as Record<
    string,
    FunctionVersion
  >;
  const files = entries.filter((entry) => entry.endsWith('.sql')).sort();
  return Promise.all(
    files.map(async (file) => {
      const name = path.basename(file, '.sql');
      const sql = await readFile(path.join(directory, file), 'utf8');
      // One that is being written has no version yet; applied as the oldest, it has the next one when it is generated.
      return { name, sql, sha256: hashOf(sql), version: versions[name]?.version ?? '0' };
    }),
  );
}

/**
 * Postgres' code for a `CREATE OR REPLACE` that would change names of arguments, defaults or the type of the result.
 */
const INVALID_FUNCTION_DEFINITION = '42P13';
const HOW_TO_CHANGE_A_SIGNATURE =
  'replicas of the version before call it as it is. Write the new one under another name, or with other types of arguments beside the old one in the same file; in a later version a migration marked "contract" drops the old one';

async function applyOne(client: pg.Client, schema: Schema, { name, sql }: FunctionFile): Promise<void> {
  await client.query(sql).catch((error: Error & { code?: string }) => {
    const why =
      error.code === INVALID_FUNCTION_DEFINITION
        ? `it changes the signature of ${schema}.${name}: ${HOW_TO_CHANGE_A_SIGNATURE}`
        : error.message;
    throw new Error(`prisma/${schema}/functions/${name}.sql failed, and no function was changed: ${why}`, {
      cause: error,
    });
  });
}

interface MadeFunction {
  readonly name: string;
  readonly oid: number;
  readonly shape: string;
  /** By the files just now; else it was there before. */
  readonly made: boolean;
  /** In the schema, with the name of one of the files. */
  readonly named: boolean;
  readonly validator: string;
}

/**
 * That each file has made all functions of its name that there are, and no other; and that each has a body that its
 * language can read.
 */
async function checkAll(client: pg.Client, schema: Schema, files: readonly FunctionFile[]): Promise<void> {
  const { rows } = await client.query<MadeFunction>(
    `SELECT * FROM (
       SELECT p.proname AS name, p.oid::int8 AS oid, p.oid::regprocedure::text AS shape, p.xmin = pg_current_xact_id()::xid AS made,
         p.pronamespace = $1::regnamespace AND p.proname = ANY ($2) AS named, l.lanvalidator::regproc::text AS validator
       FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang) AS f WHERE made OR named`,
    [schema, files.map((file) => file.name)],
  );
  const strays = rows.filter((row) => !row.named).map((row) => row.shape);
  if (strays.length > 0)
    throw new Error(
      `functions of ${schema} failed, and none was changed: ${strays.join(', ')} has no file of its own name`,
    );
  for (const { name } of files) {
    const own = rows.filter((row) => row.name === name && row.named);
    const failed = (why: string, cause?: unknown) =>
      new Error(`prisma/${schema}/functions/${name}.sql failed, and no function was changed: ${why}`, { cause });
    if (!own.some((row) => row.made)) throw failed(`it makes no ${schema}.${name}; a file is named for its function`);
    const left = own.filter((row) => !row.made).map((row) => row.shape);
    if (left.length > 0)
      throw failed(`it leaves out ${left.join(', ')}, which the database has: ${HOW_TO_CHANGE_A_SIGNATURE}`);
    for (const { oid, shape, validator } of own)
      await client.query(`SELECT ${validator}($1::oid)`, [oid]).catch((error: Error) => {
        throw failed(`${shape}: ${error.message}`, error);
      });
  }
}
