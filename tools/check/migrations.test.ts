import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { contractingMigrations, misplacedFunctions, problemsOf } from './migrations.ts';

describe('migrations expand, then contract', () => {
  it('those of this repository do', () => {
    expect(contractingMigrations(path.resolve(import.meta.dirname, '../..'))).toEqual([]);
  });

  for (const sql of [
    'DROP TABLE app.thing;',
    'ALTER TABLE app.thing DROP COLUMN note;',
    'ALTER TABLE app.thing DROP CONSTRAINT thing_pkey, ADD PRIMARY KEY (org_id, id);',
    'DROP FUNCTION app.append_events(text);',
    'ALTER TABLE app.thing RENAME COLUMN note TO remark;',
    'ALTER TABLE app.thing RENAME TO other;',
    'ALTER TABLE app.thing ALTER COLUMN note TYPE integer;',
    'ALTER TABLE app.thing ALTER note SET DATA TYPE integer;',
    'ALTER TABLE app.thing ALTER COLUMN note SET NOT NULL;',
    'ALTER TABLE app.thing ALTER COLUMN note DROP DEFAULT;',
    'ALTER TABLE app.thing ADD COLUMN note text NOT NULL;',
    'ALTER TABLE app.thing ADD note text NOT NULL, ADD COLUMN more text DEFAULT 1;',
    'ALTER TABLE app.thing ADD CONSTRAINT note_short CHECK (length(note) < 5);',
    'CREATE UNIQUE INDEX thing_note_key ON app.thing (note);',
    'TRUNCATE app.thing;',
    'REVOKE SELECT ON app.thing FROM slipway_app;',
    'DO $$ BEGIN ALTER TABLE app.thing DROP COLUMN note; END $$;',
    "COMMENT ON TABLE app.thing IS 'it''s'; DROP INDEX app.thing_note_idx;",
  ])
    it(`refuses without a mark: ${sql}`, () =>
      expect(problemsOf(sql, '0.2.0')).toEqual([expect.stringContaining('Expand first')]));

  for (const sql of [
    'CREATE TABLE app.thing (id text PRIMARY KEY, note text NOT NULL); CREATE UNIQUE INDEX thing_note_key ON app.thing (note); ALTER TABLE app.thing ADD CONSTRAINT c CHECK (true);',
    "ALTER TABLE app.thing ADD COLUMN note text, ADD COLUMN more integer NOT NULL DEFAULT 0, ADD COLUMN kind text DEFAULT 'DROP' NOT NULL;",
    'ALTER TABLE app.thing ALTER COLUMN note DROP NOT NULL;',
    'CREATE INDEX thing_note_idx ON app.thing (note);',
    '-- DROP TABLE app.thing;\n/* RENAME */ SELECT 1;',
    'CREATE OR REPLACE FUNCTION app.f() RETURNS void LANGUAGE plpgsql AS $f$ BEGIN DROP TABLE x; END $f$;',
    'CREATE POLICY tenant ON app.thing USING (true); GRANT SELECT ON app.thing TO slipway_app;',
  ])
    it(`takes: ${sql.replaceAll('\n', ' ')}`, () =>
      expect(problemsOf(`-- slipway: expand-only\n${sql}`, '0.2.0')).toEqual([]));

  it('refuses what only adds and does not say so', () =>
    expect(problemsOf('-- More.\nCREATE TABLE app.thing (id text);', '0.2.0')).toEqual([
      expect.stringContaining('a rollback is refused'),
    ]));

  it('takes what is marked as unused since an older release, and not since this one', () => {
    const drop = 'DROP TABLE app.thing;';
    expect(problemsOf(`-- contract: unused since 0.1.0\n${drop}`, '0.2.0')).toEqual([]);
    expect(problemsOf(`-- contract: unused since 0.9.0\n${drop}`, '0.10.0')).toEqual([]);
    for (const since of ['0.2.0', '0.3.0', '1.0.0'])
      expect(problemsOf(`-- contract: unused since ${since}\n${drop}`, '0.2.0')).toEqual([
        expect.stringContaining('has to be a release before'),
      ]);
    expect(problemsOf(`-- contract: some day\n${drop}`, '0.2.0')).toHaveLength(1);
  });
});

describe('SQL functions', () => {
  const problemsOfFile = (file: string, sql: string): string[] => {
    const root = mkdtempSync(path.join(os.tmpdir(), 'slipway-test-'));
    try {
      mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
      writeFileSync(path.join(root, file), sql);
      return misplacedFunctions(root);
    } finally {
      rmSync(root, { recursive: true });
    }
  };

  it('of this repository have files of their own', () => {
    expect(misplacedFunctions(path.resolve(import.meta.dirname, '../..'))).toEqual([]);
  });

  it('are refused in a migration', () => {
    const sql =
      'ALTER TABLE app.thing ADD COLUMN note text;\nCREATE OR REPLACE FUNCTION app.f() RETURNS void LANGUAGE sql AS $$ SELECT 1; $$;';
    expect(problemsOfFile('prisma/app/migrations/29990101000000_note/migration.sql', sql)).toEqual([
      expect.stringContaining('write it as prisma/app/functions/NAME.sql'),
    ]);
  });

  const f = 'CREATE OR REPLACE FUNCTION app.f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN DROP TABLE x; END $$;';
  for (const sql of [
    f,
    `-- Why.\n${f}\nCREATE OR REPLACE TRIGGER f AFTER INSERT ON app.thing FOR EACH ROW EXECUTE FUNCTION app.f();`,
    `${f} COMMENT ON FUNCTION app.f() IS 'x; y'; REVOKE ALL ON FUNCTION app.f() FROM PUBLIC; GRANT EXECUTE ON FUNCTION app.f() TO slipway_app;`,
  ])
    it(`may have in their file: ${sql}`, () => expect(problemsOfFile('prisma/app/functions/f.sql', sql)).toEqual([]));

  for (const sql of [
    'CREATE FUNCTION app.f() RETURNS void LANGUAGE sql AS $$ $$;',
    'DROP FUNCTION app.f();',
    'REVOKE ALL ON FUNCTION app.f() FROM slipway_app;',
    'UPDATE app.thing SET note = 1;',
  ])
    it(`may not have in their file: ${sql}`, () =>
      expect(problemsOfFile('prisma/app/functions/f.sql', sql)).toEqual([expect.stringContaining('belong here')]));
});
