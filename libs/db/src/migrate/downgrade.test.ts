import { randomUUID } from 'node:crypto';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { expect } from 'expect';
import pg from 'pg';
import { startPostgresServer } from '../embedded/index.js';
import { migrate } from './index.js';

const PRISMA = fileURLToPath(new URL('../../../../prisma', import.meta.url));
const PASSWORDS = { app: 'test-app', runtime: 'test-runtime', gateway: 'test-gateway', sandbox: 'test-sandbox' };

describe('an older version over a newer database', () => {
  let folder: string;
  let stop: (() => Promise<void>) | undefined;
  let admin: pg.Client;
  let url: string;
  const database = `test_${randomUUID().replaceAll('-', '')}`;
  const lines: string[] = [];
  const migrateFrom = (directory: string) => migrate({ ownerUrl: url, directory, passwords: PASSWORDS, log: (line) => lines.push(line) });
  /** The newer version: the migrations of this one, and these. */
  async function newer(name: string, migrations: Readonly<Record<string, string>>): Promise<string> {
    const directory = path.join(folder, name);
    await cp(PRISMA, directory, { recursive: true });
    for (const [migration, sql] of Object.entries(migrations)) {
      await mkdir(path.join(directory, 'app/migrations', migration));
      await writeFile(path.join(directory, 'app/migrations', migration, 'migration.sql'), sql);
    }
    return directory;
  }

  before(async () => {
    folder = await mkdtemp('/tmp/slipway-test-');
    const given = process.env['TEST_POSTGRES_URL'];
    const server = given === undefined ? await startPostgresServer(path.join(folder, 'postgres')) : null;
    if (server !== null) stop = () => server.stop();
    admin = new pg.Client({ connectionString: given ?? server?.url });
    await admin.connect();
    await admin.query(`CREATE DATABASE ${database}`);
    const place = new URL(given ?? server?.url ?? '');
    place.pathname = `/${database}`;
    url = place.href;
    await migrateFrom(PRISMA);
  });
  after(async () => {
    await admin?.query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
    await admin?.end();
    await stop?.();
    await rm(folder, { recursive: true, force: true });
  });

  it('goes on past a migration that only adds, and says so', async () => {
    const added = await newer('expand', { '29990101000000_wider': '-- slipway: expand-only\nCREATE TABLE app.wider (id int);' });
    expect((await migrateFrom(added)).applied).toEqual(['app/29990101000000_wider']);
    expect((await migrateFrom(PRISMA)).applied).toEqual([]);
    expect(lines).toContain('app/29990101000000_wider is of a newer version; it only adds, and this version can live with it');
  });

  it('refuses past any other, by its name, and applies nothing', async () => {
    const contracted = await newer('contract', {
      '29990101000000_wider': '-- slipway: expand-only\nCREATE TABLE app.wider (id int);',
      '29990101000001_narrower': 'DROP TABLE app.wider;',
    });
    await migrateFrom(contracted);
    lines.length = 0;
    // A migration of this version that is not applied yet would be, if it were not looked at first.
    const older = await newer('older', { '29980101000000_pending': 'CREATE TABLE app.pending (id int);' });
    await expect(migrateFrom(older)).rejects.toThrow(
      /does not know app\/29990101000001_narrower, after which an older version may not run\. Nothing was changed/,
    );
    expect(lines.filter((line) => line.startsWith('applied'))).toEqual([]);
  });
});
