// Makes Prisma's client of the user store, `src/store/generated`, from prisma/app/user-store.prisma. The build and `npm
// run check` run it first; it returns at once when the client is that of the schema. Plain JavaScript for any Node: npm
// runs it after an install, too.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const schemaPath = fileURLToPath(new URL('../../../prisma/app/user-store.prisma', import.meta.url));
const output = fileURLToPath(new URL('../src/store/generated', import.meta.url));
/** Written last: says what the client was made from. */
const marker = path.join(output, 'source.sha256');

/** This program, the versions that it uses, and the schema. */
const inputs = [fileURLToPath(import.meta.url), fileURLToPath(new URL('../package.json', import.meta.url)), schemaPath];
const source = inputs.reduce((hash, file) => hash.update(readFileSync(file)), createHash('sha256')).digest('hex');
if (!existsSync(marker) || readFileSync(marker, 'utf8') !== source) await generate();

async function generate() {
  const datamodel = readFileSync(schemaPath, 'utf8');
  const { PrismaClientTsGenerator } = require('@prisma/client-generator-ts');
  const { getDMMF } = require('@prisma/get-dmmf');
  const { get_config: getConfig } = require('@prisma/prisma-schema-wasm');
  const { config } = JSON.parse(
    getConfig(
      JSON.stringify({
        prismaSchema: [[schemaPath, datamodel]],
        datasourceOverrides: {},
        ignoreEnvVarErrors: true,
        env: {},
      }),
    ),
  );
  const dmmf = getDMMF({ datamodel });
  if ('reason' in dmmf) throw new Error(`${schemaPath}: ${dmmf.reason}`, { cause: dmmf.error });
  const generator = { ...config.generators[0], output: { fromEnvVar: null, value: output } };
  rmSync(output, { recursive: true, force: true });
  await new PrismaClientTsGenerator().generate({
    generator,
    otherGenerators: [],
    schemaPath,
    datamodel,
    dmmf,
    datasources: config.datasources,
    version: '',
  });
  writeFileSync(marker, source);
}
