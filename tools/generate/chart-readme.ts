import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { type GeneratedFile, NOTICE } from './generated-file.ts';
import { prose } from './prose.ts';

const CHART = 'helm/slipway';

interface Schema {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

/**
 * The chart's README: its introduction (`README.header.md`) and a table of every value, from the schema and the
 * defaults.
 * @throws Error that names a value that the schema does not describe, or a key of the schema without a default.
 */
export function chartReadme(root: string): GeneratedFile {
  const read = (file: string): string => readFileSync(path.join(root, CHART, file), 'utf8');
  const schema = JSON.parse(read('values.schema.json')) as Schema;
  const values = parse(read('values.yaml')) as Record<string, unknown>;
  const sections = Object.entries(values).filter(([, value]) => isObject(value));
  const plain = Object.entries(values).filter(([, value]) => !isObject(value));
  const property = (name: string): Schema => described(schema, schema.properties?.[name], name);
  const tables = [
    `### Everything\n\n${table(plain.flatMap(([name, value]) => rows(schema, property(name), value, name)))}`,
    ...sections.map(
      ([name, value]) =>
        `### \`${name}\`\n\n${prose(property(name).description ?? '')}\n\n${table(rows(schema, property(name), value, name).slice(1))}`,
    ),
  ];
  const template = schema.$defs?.['template'];
  const fields = Object.entries(template?.properties ?? {}).map(([name, field]) =>
    row(name, described(schema, field, name), undefined),
  );
  tables.push(`### An entry of \`sandboxes.templates\`\n\n${table(fields)}`);
  return {
    path: `${CHART}/README.md`,
    content: `<!-- ${NOTICE} -->\n${read('README.header.md').trim()}\n\n## Values\n\n${tables.join('\n\n')}\n`,
  };
}

/** The value itself and everything below it; an object that people fill as they like is one row. */
function rows(schema: Schema, property: Schema, value: unknown, name: string): string[] {
  const own = row(name, property, value);
  if (property.properties === undefined || !isObject(value)) return [own];
  // `pod` of an app is empty until it is set.
  if (Object.keys(value).length === 0) return [own];
  const missing = Object.keys(property.properties).find((key) => !(key in value));
  if (missing !== undefined)
    throw new Error(`${CHART}/values.yaml: ${name}.${missing} is in the schema and has no default`);
  return [
    own,
    ...Object.entries(value).flatMap(([key, below]) =>
      rows(schema, described(schema, property.properties?.[key], `${name}.${key}`), below, `${name}.${key}`),
    ),
  ];
}

function described(schema: Schema, property: Schema | undefined, name: string): Schema {
  if (property === undefined) throw new Error(`${CHART}/values.schema.json does not know ${name}`);
  const target = property.$ref === undefined ? {} : (schema.$defs?.[property.$ref.replace('#/$defs/', '')] ?? {});
  const whole = { ...target, ...property };
  if (whole.description === undefined) throw new Error(`${CHART}/values.schema.json does not describe ${name}`);
  return whole;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const table = (lines: readonly string[]): string => `| value | default | meaning |\n|---|---|---|\n${lines.join('\n')}`;

function row(name: string, property: Schema, value: unknown): string {
  const inside = isObject(value) && property.properties !== undefined && Object.keys(value).length > 0;
  const compact = value === undefined || inside ? '' : `\`${JSON.stringify(value)}\``;
  const fallback = compact.length > 120 ? 'see values.yaml' : compact;
  const allowed =
    property.enum !== undefined
      ? ` One of ${property.enum.map((one) => `\`${String(one)}\``).join(', ')}.`
      : property.type === 'integer' && property.minimum !== undefined && property.maximum !== undefined
        ? ` ${property.minimum} to ${property.maximum}.`
        : '';
  return `| \`${name}\` | ${fallback} | ${`${property.description ?? ''}${allowed}`.replaceAll('|', '\\|')} |`;
}
