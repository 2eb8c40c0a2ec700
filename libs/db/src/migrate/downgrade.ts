import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type pg from 'pg';

/**
 * The first line of a migration that an older version can live with: it only adds what older code may ignore (a table,
 * a nullable column, an index). Every other migration counts as a contraction: older code may read or write what is no
 * longer there.
 */
const EXPAND_ONLY = /^-- slipway: expand-only\b/;
/**
 * What the history says of such a one, in a column that Prisma keeps for its own words of failed migrations. An older
 * version reads it there: it has no file of it.
 */
export const EXPAND_MARK = 'slipway: expand-only';

export const markOf = (sql: string): string | null => (EXPAND_ONLY.test(sql) ? EXPAND_MARK : null);

/**
 * Refuses to go on when the database has been migrated by a newer version, past something that this one cannot know.
 * Nothing has been changed then.
 * @throws Error that names those migrations and says what to do.
 */
export async function refuseDowngrade(
  client: pg.Client,
  schemas: readonly string[],
  directory: string,
  log: (line: string) => void,
): Promise<void> {
  const unknown: string[] = [];
  for (const schema of schemas) {
    const history = await client.query<{ found: string | null }>('SELECT to_regclass($1) AS found', [
      `${schema}._prisma_migrations`,
    ]);
    if (history.rows[0]?.found === null) continue;
    const known = new Set(await readdir(path.join(directory, schema, 'migrations')));
    const applied = await client.query<{ migration_name: string; logs: string | null }>(
      `SELECT migration_name, logs FROM ${schema}._prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL ORDER BY migration_name`,
    );
    for (const { migration_name: name, logs } of applied.rows) {
      if (known.has(name)) continue;
      if (logs === EXPAND_MARK)
        log(`${schema}/${name} is of a newer version; it only adds, and this version can live with it`);
      else unknown.push(`${schema}/${name}`);
    }
  }
  if (unknown.length > 0)
    throw new Error(
      `this version is older than the database: it does not know ${unknown.join(', ')}, after which an older version may not run. Nothing was changed. Install the version that the database has, or restore the backup from before its upgrade`,
    );
}
