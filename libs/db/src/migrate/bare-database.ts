import { randomUUID } from 'node:crypto';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startPostgresServer } from '../embedded/index.js';
import { migrate } from './migrate.js';

const PRISMA = fileURLToPath(new URL('../../../../prisma', import.meta.url));
const PASSWORDS = { app: 'test-app', runtime: 'test-runtime', gateway: 'test-gateway', sandbox: 'test-sandbox' };

/** For tests of the runner itself: a database without anything in it, and `prisma/` folders of other versions. */
export interface BareDatabase {
  /** The folder of this version. */
  readonly prisma: string;
  /** Connects as the owner. */
  readonly url: string;
  /** Lines that `migrate` has logged, in order. */
  readonly lines: string[];
  /** As the owner. */
  query<Row extends pg.QueryResultRow>(sql: string, values?: unknown[]): Promise<Row[]>;
  migrate(directory: string): ReturnType<typeof migrate>;
  /** A copy of `prisma/` with these files put into it, by their paths in it; null takes a file or folder away. */
  version(name: string, files: Readonly<Record<string, string | null>>): Promise<string>;
  close(): Promise<void>;
}

/** @param given a server, as TEST_POSTGRES_URL names one. Absent: one of its own. */
export async function createBareDatabase(given: string | undefined): Promise<BareDatabase> {
  const folder = await mkdtemp('/tmp/slipway-test-');
  const server = given === undefined ? await startPostgresServer(path.join(folder, 'postgres')) : null;
  const admin = new pg.Client({ connectionString: given ?? server?.url });
  await admin.connect();
  const database = `test_${randomUUID().replaceAll('-', '')}`;
  await admin.query(`CREATE DATABASE ${database}`);
  const url = new URL(given ?? server?.url ?? '');
  url.pathname = `/${database}`;
  const owner = new pg.Client({ connectionString: url.href });
  await owner.connect();
  const lines: string[] = [];
  return {
    prisma: PRISMA,
    url: url.href,
    lines,
    query: async <Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []) =>
      (await owner.query<Row>(sql, values)).rows,
    migrate: (directory) =>
      migrate({ ownerUrl: url.href, directory, passwords: PASSWORDS, log: (line) => lines.push(line) }),
    version: async (name, files) => {
      const directory = path.join(folder, name);
      await cp(PRISMA, directory, { recursive: true });
      for (const [file, text] of Object.entries(files)) {
        const place = path.join(directory, file);
        if (text === null) await rm(place, { recursive: true });
        else {
          await mkdir(path.dirname(place), { recursive: true });
          await writeFile(place, text);
        }
      }
      return directory;
    },
    close: async () => {
      await owner.end();
      await admin.query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
      await admin.end();
      await server?.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
