import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type BareDatabase, createBareDatabase } from './bare-database.js';
import { SCHEMAS } from './schemas.js';

/** Every function as the catalogue has it, with its rights and its comment. */
const CATALOGUE = `SELECT p.oid::regprocedure::text AS shape, pg_get_functiondef(p.oid) AS text, p.proacl::text AS rights, obj_description(p.oid) AS comment
  FROM pg_proc p WHERE p.pronamespace::regnamespace::text IN ('app', 'runtime', 'gateway') ORDER BY 1`;

describe('functions in files', () => {
  let database: BareDatabase;
  beforeAll(async () => {
    database = await createBareDatabase(process.env['TEST_POSTGRES_URL']);
  });
  afterAll(() => database?.close());

  it('are the same in an upgraded database and in a new one, and each has the file of its name', async () => {
    const before = await database.version(
      'migrations-alone',
      Object.fromEntries(SCHEMAS.map((schema) => [`${schema}/functions`, null])),
    );
    expect((await database.migrate(before)).functions).toEqual([]);
    const { applied, functions } = await database.migrate(database.prisma);
    expect(applied).toEqual([]);
    const fresh = await createBareDatabase(process.env['TEST_POSTGRES_URL']);
    try {
      await fresh.migrate(database.prisma);
      expect(await database.query(CATALOGUE)).toEqual(await fresh.query(CATALOGUE));
    } finally {
      await fresh.close();
    }
    const named = await database.query<{ name: string }>(
      "SELECT DISTINCT pronamespace::regnamespace || '/functions/' || proname AS name FROM pg_proc WHERE pronamespace::regnamespace::text IN ('app', 'runtime', 'gateway')",
    );
    expect(functions.toSorted()).toEqual(named.map((row) => row.name).toSorted());
    for (const schema of SCHEMAS) {
      const files = await readdir(path.join(database.prisma, schema, 'functions'));
      expect(files.filter((file) => !/^\w+\.sql$|^versions\.json$/.test(file))).toEqual([]);
    }
  });

  it('are applied again when their text changes, and only those', async () => {
    const changed = await database.version('changed', withFunction('greet', 1, "SELECT 'hello'"));
    expect((await database.migrate(changed)).functions).toEqual(['app/functions/greet']);
    expect((await database.migrate(changed)).functions).toEqual([]);
    const again = await database.version('again', withFunction('greet', 2, "SELECT 'good morning'"));
    expect((await database.migrate(again)).functions).toEqual(['app/functions/greet']);
    expect(await greeting()).toBe('good morning');
  });

  it('of an older version do not take the place of newer ones', async () => {
    const older = await database.version('older', withFunction('greet', 1, "SELECT 'hello'"));
    database.lines.length = 0;
    expect((await database.migrate(older)).functions).toEqual([]);
    expect(database.lines).toEqual(['functions of app are of a newer version, and stay: greet']);
    expect(await greeting()).toBe('good morning');
  });

  it('are made again when a migration has dropped them', async () => {
    await database.query('DROP FUNCTION app.greet()');
    const again = await database.version('dropped', withFunction('greet', 2, "SELECT 'good morning'"));
    expect((await database.migrate(again)).functions).toEqual(['app/functions/greet']);
  });

  it('may call each other whatever their names, and one that calls nothing there is fails by its name', async () => {
    const circle = await database.version('circle', {
      ...withFunction('a_caller', 3, 'SELECT app.z_called()'),
      'app/functions/z_called.sql': sqlOf('z_called', "SELECT 'z'"),
    });
    expect((await database.migrate(circle)).functions).toEqual(['app/functions/a_caller', 'app/functions/z_called']);
    const broken = await database.version('broken', {
      ...withFunction('greet', 4, "SELECT 'bye'"),
      'app/functions/lost.sql': sqlOf('lost', 'SELECT app.nowhere()'),
    });
    await expect(database.migrate(broken)).rejects.toThrow(
      /prisma\/app\/functions\/lost\.sql failed, and no function was changed: app\.lost\(\): function app\.nowhere\(\) does not exist/,
    );
    expect(await greeting()).toBe('good morning');
  });

  for (const [what, text] of [
    [
      'the type of the result',
      'CREATE OR REPLACE FUNCTION app.greet() RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$;',
    ],
    [
      'the arguments',
      `CREATE OR REPLACE FUNCTION app.greet(p_name text) RETURNS text LANGUAGE sql AS $$ SELECT 'hello' $$;`,
    ],
  ] as const)
    it(`fail with the way to go when one changes ${what}`, async () => {
      const changed = await database.version(`signature ${what}`, {
        ...withFunction('greet', 5, ''),
        'app/functions/greet.sql': text,
      });
      await expect(database.migrate(changed)).rejects.toThrow(
        /greet\.sql failed, and no function was changed: .*app\.greet.* replicas of the version before call it as it is\. .* a migration marked "contract" drops the old one/,
      );
      expect(await greeting()).toBe('good morning');
    });

  it('take another signature beside the old one in the same file', async () => {
    const both = `${sqlOf('greet', "SELECT 'good morning'")}${sqlOf('greet', "SELECT 'good morning, ' || p_name", 'p_name text')}`;
    await database.migrate(
      await database.version('both', { ...withFunction('greet', 6, ''), 'app/functions/greet.sql': both }),
    );
    expect(await database.query("SELECT app.greet('Ada')")).toEqual([{ greet: 'good morning, Ada' }]);
  });

  it('fail in the file of another one', async () => {
    const stray = await database.version('stray', {
      ...withFunction('polite', 7, "SELECT 'please'"),
      'app/functions/rude.sql': sqlOf('ruder', "SELECT 'now'"),
    });
    await expect(database.migrate(stray)).rejects.toThrow(
      'functions of app failed, and none was changed: app.ruder() has no file of its own name',
    );
    expect(await database.query("SELECT proname FROM pg_proc WHERE proname IN ('ruder', 'polite')")).toEqual([]);
  });

  const greeting = async (): Promise<unknown> =>
    (await database.query<{ greet: string }>('SELECT app.greet()'))[0]?.greet;
});

function sqlOf(name: string, body: string, args = ''): string {
  return `CREATE OR REPLACE FUNCTION app.${name}(${args}) RETURNS text LANGUAGE sql AS $$ ${body} $$;\n`;
}

/** One function more than this version has, and the versions of them all; every other file is as it is. */
function withFunction(name: string, version: number, body: string): Record<string, string> {
  return {
    [`app/functions/${name}.sql`]: sqlOf(name, body),
    'app/functions/versions.json': JSON.stringify({ [name]: { version: `2999${version}`, sha256: '' } }),
  };
}
