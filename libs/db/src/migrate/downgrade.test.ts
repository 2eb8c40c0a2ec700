import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type BareDatabase, createBareDatabase } from './bare-database.js';

describe('an older version over a newer database', () => {
  let database: BareDatabase;
  beforeAll(async () => {
    database = await createBareDatabase(process.env['TEST_POSTGRES_URL']);
    await database.migrate(database.prisma);
  });
  afterAll(() => database?.close());

  it('goes on past a migration that only adds, and says so', async () => {
    const added = await database.version('expand', {
      'app/migrations/29990101000000_wider/migration.sql': '-- slipway: expand-only\nCREATE TABLE app.wider (id int);',
    });
    expect((await database.migrate(added)).applied).toEqual(['app/29990101000000_wider']);
    expect((await database.migrate(database.prisma)).applied).toEqual([]);
    expect(database.lines).toContain(
      'app/29990101000000_wider is of a newer version; it only adds, and this version can live with it',
    );
  });

  it('refuses past any other, by its name, and applies nothing', async () => {
    const contracted = await database.version('contract', {
      'app/migrations/29990101000000_wider/migration.sql': '-- slipway: expand-only\nCREATE TABLE app.wider (id int);',
      'app/migrations/29990101000001_narrower/migration.sql': 'DROP TABLE app.wider;',
    });
    await database.migrate(contracted);
    database.lines.length = 0;
    // A migration of this version that is not applied yet would be, without the check before.
    const older = await database.version('older', {
      'app/migrations/29980101000000_pending/migration.sql': 'CREATE TABLE app.pending (id int);',
    });
    await expect(database.migrate(older)).rejects.toThrow(
      /does not know app\/29990101000001_narrower, after which an older version may not run\. Nothing was changed/,
    );
    expect(database.lines.filter((line) => line.startsWith('applied'))).toEqual([]);
  });
});
