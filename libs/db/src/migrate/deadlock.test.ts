import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { type BareDatabase, createBareDatabase } from './bare-database.js';

describe('a migration beside running services', () => {
  let database: BareDatabase;
  let service: pg.Client;
  beforeAll(async () => {
    database = await createBareDatabase(process.env['TEST_POSTGRES_URL']);
    await database.migrate(database.prisma);
    await database.query('CREATE TABLE app.one (id int); CREATE TABLE app.other (id int)');
    service = new pg.Client({ connectionString: database.url });
    await service.connect();
    // The migration's own check finds the deadlock, not the service's: the migration is the one that Postgres ends.
    await service.query("SET deadlock_timeout = '1h'");
  });
  afterAll(async () => {
    await service?.end();
    await database?.close();
  });

  it('is repeated when it and a service wait for each other, and holds then', async () => {
    const newer = await database.version('newer', {
      'app/migrations/29990101000000_both/migration.sql':
        '-- slipway: expand-only\nALTER TABLE app.one ADD COLUMN a int; ALTER TABLE app.other ADD COLUMN a int;',
    });
    await service.query('BEGIN; LOCK TABLE app.other IN ROW EXCLUSIVE MODE');
    const migrated = database.migrate(newer);
    const waits = `SELECT 1 FROM pg_locks WHERE relation = 'app.other'::regclass AND NOT granted`;
    while ((await database.query(waits)).length === 0) await new Promise(setImmediate);
    await service.query('SELECT * FROM app.one');
    await service.query('COMMIT');
    expect((await migrated).applied).toEqual(['app/29990101000000_both']);
    expect(database.lines).toContain('app/29990101000000_both is repeated: deadlock detected');
    expect(await database.query('SELECT a FROM app.one UNION ALL SELECT a FROM app.other')).toEqual([]);
  });
});
