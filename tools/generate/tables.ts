import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { getDMMF } from '@prisma/get-dmmf';
import type { GeneratedFile } from './generated-file.ts';

/**
 * As a pool of `createPool` reads them. A list column that may be null reads as one that may not: Prisma has no word
 * for it.
 */
const TYPES: Readonly<Record<string, string>> = {
  String: 'string',
  Int: 'number',
  BigInt: 'number',
  Float: 'number',
  Decimal: 'string',
  Boolean: 'boolean',
  DateTime: 'Date',
  Bytes: 'Buffer',
  Json: 'unknown',
};

interface Field {
  readonly name: string;
  readonly dbName?: string | null;
  readonly type: string;
  readonly kind: string;
  readonly isList: boolean;
  readonly isRequired: boolean;
  readonly documentation?: string;
}

/**
 * `libs/db/src/sql/generated/tables.ts`: the columns of every table of the Prisma schemas, for the types of rows that
 * SQL returns.
 */
export function tables(root: string): GeneratedFile {
  const folders = [...new Set(globSync('prisma/*/*.prisma', { cwd: root }).map((file) => path.dirname(file)))].sort();
  const entries = folders.flatMap((folder) => modelsOf(path.join(root, folder)).map((model) => tableOf(model)));
  const content = `// Made by \`npm run generate\` from prisma/*/*.prisma.

/** The columns of every table, as a pool of \`createPool\` reads them. */
export interface Tables {
${entries.sort().join('')}}
`;
  return { path: 'libs/db/src/sql/generated/tables.ts', content };
}

/** @throws Error that names the line which Prisma does not read. */
function modelsOf(folder: string) {
  const dmmf = getDMMF({
    datamodel: globSync('*.prisma', { cwd: folder }).map((file) => [
      file,
      readFileSync(path.join(folder, file), 'utf8'),
    ]),
  });
  if ('reason' in dmmf) throw new Error(`${folder}: ${dmmf.reason}`, { cause: dmmf.error });
  return dmmf.datamodel.models;
}

function tableOf({
  name,
  dbName,
  schema,
  fields,
}: {
  name: string;
  dbName: string | null;
  schema: string | null;
  fields: readonly Field[];
}): string {
  const columns = fields.filter(({ kind }) => kind !== 'object').map(columnOf);
  return `  '${schema}.${dbName ?? name}': {\n${columns.join('')}  };\n`;
}

function columnOf({ name, dbName, type, isList, isRequired, documentation }: Field): string {
  const known = TYPES[type];
  if (known === undefined) throw new Error(`${name}: no type of a row is known for ${type}`);
  const read = `${known}${isList ? '[]' : ''}${isRequired || known === 'unknown' ? '' : ' | null'}`;
  const comment = documentation === undefined ? '' : `    /** ${documentation.replaceAll('\n', ' ')} */\n`;
  return `${comment}    readonly ${dbName ?? name}: ${read};\n`;
}
