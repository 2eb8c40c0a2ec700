import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startPostgresServer } from '../embedded/index.js';
import { migrate, serviceUrl } from '../migrate/index.js';

/**
 * Those of `createTestDatabase` (which depends on this library, so it cannot be used here): roles are shared by all
 * databases of a server.
 */
const PASSWORDS = { app: 'test-app', runtime: 'test-runtime', gateway: 'test-gateway', sandbox: 'test-sandbox' };

export interface Database {
  readonly ownerUrl: string;
  readonly urls: { readonly app: string };
  close(): Promise<void>;
}

/** A migrated database of its own; on the server of `TEST_POSTGRES_URL`, or one that it starts. */
export async function createDatabase(): Promise<Database> {
  const given = process.env['TEST_POSTGRES_URL'];
  const directory = given === undefined ? await mkdtemp('/tmp/slipway-test-') : null;
  const server = directory === null ? null : await startPostgresServer(path.join(directory, 'postgres'));
  const admin = new pg.Client({ connectionString: given ?? server?.url });
  await admin.connect();
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await admin.query(`CREATE DATABASE ${name}`);
  const url = new URL(given ?? server?.url ?? '');
  url.pathname = `/${name}`;
  await migrate({
    ownerUrl: url.href,
    directory: fileURLToPath(new URL('../../../../prisma', import.meta.url)),
    passwords: PASSWORDS,
    log: () => {},
  });
  return {
    ownerUrl: url.href,
    urls: { app: serviceUrl(url.href, 'app', PASSWORDS.app) },
    close: async () => {
      await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await admin.end();
      await server?.stop();
      if (directory !== null) await rm(directory, { recursive: true, force: true });
    },
  };
}
