import { cp, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from '../../deploy/local/settings.ts';
import type { Fleet } from './fleet.ts';

/** Later than any real one. */
const FIRST = 99_990_101_000_000n;

/**
 * A `prisma/` folder as the version after this one might have it: every table has a column more, each in a migration of
 * its own.
 * @returns the names of its further migrations.
 */
export async function writeNextVersion(fleet: Fleet, folder: string): Promise<string[]> {
  await cp(path.join(ROOT, 'prisma'), folder, { recursive: true });
  const tables = await fleet.query<{ schema: string; name: string }>(
    "SELECT table_schema AS schema, table_name AS name FROM information_schema.tables WHERE table_schema IN ('app', 'runtime', 'gateway') AND table_type = 'BASE TABLE' AND table_name NOT LIKE '\\_%' ORDER BY 1, 2",
  );
  const names: string[] = [];
  for (const [index, { schema, name }] of tables.entries()) {
    const migration = `${FIRST + BigInt(index)}_next_${name}`;
    const place = path.join(folder, schema, 'migrations', migration);
    await mkdir(place, { recursive: true });
    await writeFile(
      path.join(place, 'migration.sql'),
      `ALTER TABLE ${schema}.${name} ADD COLUMN of_the_next_version integer NOT NULL DEFAULT 7;\n`,
    );
    names.push(`${schema}/${migration}`);
  }
  return names;
}
