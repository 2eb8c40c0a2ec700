import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type PostgresServer, startPostgresServer } from '@slipway/db/embedded';
import { migrate, ROLES, type Role, SCHEMAS, serviceUrl } from '@slipway/db/migrate';
import pg from 'pg';

export interface TestDatabase {
  readonly ownerUrl: string;
  /** As each service connects: `slipway_app`, `slipway_runtime`, `slipway_gateway`, `slipway_sandbox`. */
  readonly urls: Readonly<Record<Role, string>>;
  /** Drops it, and stops the server when this call started one. */
  close(): Promise<void>;
}

const PRISMA_DIRECTORY = fileURLToPath(new URL('../../../prisma', import.meta.url));
/** Longest wait for connections to a test's database to close by themselves. Milliseconds. */
const CLOSING_MS = 3_000;
const PASSWORDS = {
  app: 'test-app',
  runtime: 'test-runtime',
  gateway: 'test-gateway',
  sandbox: 'test-sandbox',
} as const;

/**
 * A fresh, migrated database on a real Postgres: on the server of TEST_POSTGRES_URL (one for a whole run of the
 * suites), else on one of its own. Copied from a template, so it takes some tens of milliseconds.
 *
 * @param options.extra what the template gets after the migrations, once for each `name`: `{ name: 'queue', prepare:
 * (ownerUrl) => migrateQueue(ownerUrl, 'slipway_app') }`.
 */
export async function createTestDatabase(
  options: { extra?: { name: string; prepare: (ownerUrl: string) => Promise<void> } } = {},
): Promise<TestDatabase> {
  const given = process.env['TEST_POSTGRES_URL'];
  const own = given === undefined ? await ownServer() : null;
  const adminUrl = given ?? own?.server.url ?? '';
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  const name = `test_${randomBytes(6).toString('hex')}`;
  const template = `template_${await migrationsHash()}${options.extra === undefined ? '' : `_${options.extra.name}`}`;
  // One maker of the template, and one copy at a time: CREATE DATABASE wants the template to itself.
  await admin.query('SELECT pg_advisory_lock(71)');
  try {
    const exists = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [template]);
    if (exists.rowCount === 0) {
      // What a maker that was killed left behind.
      await admin.query(`DROP DATABASE IF EXISTS ${template}_making WITH (FORCE)`);
      await admin.query(`CREATE DATABASE ${template}_making`);
      await migrate({
        ownerUrl: withDatabase(adminUrl, `${template}_making`),
        directory: PRISMA_DIRECTORY,
        passwords: PASSWORDS,
        log: () => {},
      });
      await options.extra?.prepare(withDatabase(adminUrl, `${template}_making`));
      await admin.query(`ALTER DATABASE ${template}_making RENAME TO ${template}`);
    }
    // Nothing of it has to be in the log of a server that starts with all that it holds.
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  } finally {
    await admin.query('SELECT pg_advisory_unlock(71)');
  }
  const ownerUrl = withDatabase(adminUrl, name);
  return {
    ownerUrl,
    urls: Object.fromEntries(
      ROLES.map((role) => [role, serviceUrl(ownerUrl, role, PASSWORDS[role])]),
    ) as TestDatabase['urls'],
    close: async () => {
      // A pool's end does not wait for the server: connections that are being closed would be killed, and their clients
      // would throw.
      const open = async (): Promise<boolean> =>
        (await admin.query('SELECT 1 FROM pg_stat_activity WHERE datname = $1', [name])).rowCount !== 0;
      for (const end = performance.now() + CLOSING_MS; (await open()) && performance.now() < end; ) await wait(5);
      await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await admin.end();
      await own?.stop();
    },
  };
}

async function ownServer(): Promise<{ server: PostgresServer; stop: () => Promise<void> }> {
  const base = existsSync('/tmp') ? '/tmp' : os.tmpdir();
  const directory = await mkdtemp(path.join(base, 'slipway-test-'));
  const server = await startPostgresServer(path.join(directory, 'postgres'));
  return {
    server,
    stop: async () => {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function withDatabase(url: string, name: string): string {
  const parsed = new URL(url);
  parsed.pathname = `/${name}`;
  return parsed.href;
}

/** Of everything that `migrate` reads. */
async function migrationsHash(): Promise<string> {
  const hash = createHash('sha256');
  for (const schema of SCHEMAS) {
    const files = await readdir(path.join(PRISMA_DIRECTORY, schema), { recursive: true });
    for (const file of files.filter((name) => /\.(?:sql|json)$/.test(name)).sort())
      hash.update(file).update(await readFile(path.join(PRISMA_DIRECTORY, schema, file)));
  }
  return hash.digest('hex').slice(0, 16);
}
