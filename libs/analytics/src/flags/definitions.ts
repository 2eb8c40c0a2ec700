import type { PoolClient, SqlPool } from '@slipway/db/sql';
import { z } from 'zod';

/** What PostHog answers about the flags of a project, as far as an evaluation here needs it. */
export const FlagDefinitions = z.looseObject({
  flags: z.array(z.looseObject({ key: z.string().max(400), active: z.boolean().optional() })).max(2_000),
  group_type_mapping: z.record(z.string(), z.string()).default({}),
  cohorts: z.record(z.string(), z.unknown()).default({}),
});
export type FlagDefinitions = z.infer<typeof FlagDefinitions>;

export interface StoredDefinitions {
  readonly definitions: FlagDefinitions;
  readonly etag: string | null;
  readonly fetchedAt: Date;
}

/** The last known ones; `null`: there never were any, or what is there cannot be read. */
export async function readDefinitions(pool: Pick<SqlPool, 'query'> | PoolClient): Promise<StoredDefinitions | null> {
  const { rows } = await pool.query<{ definitions: unknown; etag: string | null; fetchedAt: Date }>(
    'SELECT definitions, etag, fetched_at AS "fetchedAt" FROM app.flag_definitions',
  );
  const read = FlagDefinitions.safeParse(rows[0]?.definitions);
  return rows[0] === undefined || !read.success ? null : { ...rows[0], definitions: read.data };
}

export async function writeDefinitions(
  pool: Pick<SqlPool, 'query'>,
  definitions: FlagDefinitions,
  etag: string | null,
): Promise<void> {
  await pool.query(
    `INSERT INTO app.flag_definitions (definitions, etag) VALUES ($1, $2)
     ON CONFLICT (id) DO UPDATE SET definitions = excluded.definitions, etag = excluded.etag, fetched_at = now()`,
    [JSON.stringify(definitions), etag],
  );
}

/** Definitions confirmed unchanged: their age starts again. */
export async function confirmDefinitions(pool: Pick<SqlPool, 'query'>): Promise<void> {
  await pool.query('UPDATE app.flag_definitions SET fetched_at = now()');
}
