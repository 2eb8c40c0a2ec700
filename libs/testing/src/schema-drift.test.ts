import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SCHEMAS } from '@slipway/db/migrate';
import { createPool } from '@slipway/db/sql';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from './test-database.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Every model of a schema, whichever of its files it is in. */
async function modelsOf(schema: string): Promise<string> {
  const folder = path.join(ROOT, 'prisma', schema);
  const files = (await readdir(folder)).filter((file) => file.endsWith('.prisma'));
  return (await Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')))).join('\n');
}

const POSTGRES_TYPES: Readonly<Record<string, string>> = {
  String: 'text',
  Int: 'integer',
  BigInt: 'bigint',
  Boolean: 'boolean',
  Bytes: 'bytea',
  Decimal: 'numeric',
  DateTime: 'timestamp with time zone',
  Json: 'jsonb',
  Float: 'double precision',
};
const NATIVE_TYPES: Readonly<Record<string, string>> = { Uuid: 'uuid', Json: 'json', Date: 'date' };

/** `table.column type [null]` for every field of a Prisma schema that is a column. */
function columnsOfSchema(text: string): string[] {
  const models = new Set([...text.matchAll(/^model (\w+)/gm)].map((match) => match[1]));
  return [...text.matchAll(/^model (\w+) \{([\s\S]*?)^\}/gm)].flatMap(([, model, body = '']) => {
    const table = /@@map\("(\w+)"\)/.exec(body)?.[1] ?? model;
    return body.split('\n').flatMap((line) => {
      const field = /^ {2}(\w+)\s+(\w+)(\[\])?(\?)?(.*)$/.exec(line);
      if (field === null || models.has(field[2])) return [];
      const [, name, type = '', list, optional, attributes = ''] = field;
      const native = NATIVE_TYPES[/@db\.(\w+)/.exec(attributes)?.[1] ?? ''];
      return [
        `${table}.${/@map\("(\w+)"\)/.exec(attributes)?.[1] ?? name} ${list ? 'ARRAY' : (native ?? POSTGRES_TYPES[type])}${optional ? ' null' : ''}`,
      ];
    });
  });
}

describe('the Prisma schemas', () => {
  let database: TestDatabase;
  let client: pg.Client;
  beforeAll(async () => {
    database = await createTestDatabase();
    client = new pg.Client({ connectionString: database.ownerUrl });
    await client.connect();
  });
  afterAll(async () => {
    await client?.end();
    await database?.close();
  });

  for (const schema of SCHEMAS) {
    it(`say of ${schema} what its migrations make: each column, its type and whether it may be null`, async () => {
      // Prisma has no word for a list that may be null; its client reads none as an empty one.
      const { rows } = await client.query<{ line: string }>(
        `SELECT table_name || '.' || column_name || ' ' || data_type || CASE WHEN is_nullable = 'YES' AND data_type <> 'ARRAY' THEN ' null' ELSE '' END AS line
         FROM information_schema.columns WHERE table_schema = $1 AND table_name NOT LIKE '\\_%'`,
        [schema],
      );
      expect(columnsOfSchema(await modelsOf(schema)).sort()).toEqual(rows.map((row) => row.line).sort());
    });
  }

  it('are read by a pool as the generated types of rows say', async () => {
    const pool = createPool({
      url: database.ownerUrl,
      max: 1,
      applicationName: 'schema-drift-test',
      onError: () => {},
    });
    try {
      const { rows } = await pool.query<Record<string, unknown>>(
        `SELECT 1::integer AS "Int", 1::bigint AS "BigInt", 1.5::double precision AS "Float", 1.50::numeric AS "Decimal", true AS "Boolean",
                now() AS "DateTime", '2026-01-01'::date AS "Date", '\\x00'::bytea AS "Bytes", 'a'::text AS "String", gen_random_uuid() AS "Uuid", ARRAY['a'] AS "String[]"`,
      );
      const read = Object.entries(rows[0] ?? {}).map(([type, value]) => [
        type,
        typeof value === 'object' ? value?.constructor.name : typeof value,
      ]);
      expect(Object.fromEntries(read)).toEqual({
        Int: 'number',
        BigInt: 'number',
        Float: 'number',
        Decimal: 'string',
        Boolean: 'boolean',
        DateTime: 'Date',
        Date: 'Date',
        Bytes: 'Buffer',
        String: 'string',
        Uuid: 'string',
        'String[]': 'Array',
      });
    } finally {
      await pool.end();
    }
  });
});
