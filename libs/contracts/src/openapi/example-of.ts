import { FIELD_EXAMPLES } from './field-examples.js';
import type { Json } from './json.js';

/** Where a value stands: the named schema around it, its field, and the operation that it is for. */
interface Place {
  readonly schema: string;
  readonly field: string;
}

/** No example is known for a field. Its message says what to write, and where. */
export class NoExample extends Error {
  constructor({ schema, field }: Place) {
    super(
      `no example for ${schema === '' ? field : `${schema}.${field}`}: add one to libs/contracts/src/openapi/field-examples.ts, or .meta({ examples: […] }) to its schema`,
    );
  }
}

const UUID = '0198c0de-7a1b-7000-8000-3f6c5d2e9b10';
const FORMATS: Readonly<Record<string, unknown>> = {
  'date-time': '2026-11-22T09:30:00.000Z',
  date: '2026-11-22',
  uuid: UUID,
  email: 'ada@acme.example',
  uri: 'https://example.com/',
};

/**
 * An example of a JSON schema: its own `examples` first, then what `FIELD_EXAMPLES` says of the field, then what its
 * format or its kind allows. Every field is given, so that a reader sees them all; with `requiredOnly` those alone that
 * must be.
 *
 * @throws NoExample for text without a known form.
 */
export function exampleOf(
  schema: Json,
  components: Json,
  options: { readonly requiredOnly?: boolean } = {},
  at: Place = { schema: '', field: '' },
): unknown {
  const inner = (next: Json, place: Place = at): unknown => exampleOf(next, components, options, place);
  const examples = schema['examples'] as unknown[] | undefined;
  if (examples !== undefined && examples.length > 0) return examples[0];
  const known = knownFor(at);
  if (schema['$ref'] !== undefined) {
    const here = `${at.schema}.${at.field}`;
    if (Object.hasOwn(FIELD_EXAMPLES, here)) return FIELD_EXAMPLES[here];
    const name = String(schema['$ref']).split('/').at(-1) ?? '';
    const own = FIELD_EXAMPLES[name];
    return own === undefined ? inner(components[name] as Json, { schema: name, field: at.field }) : own;
  }
  if (schema['const'] !== undefined) return schema['const'];
  if (schema['enum'] !== undefined) {
    const values = schema['enum'] as unknown[];
    return known !== undefined && values.includes(known.value) ? known.value : values[0];
  }
  if (known !== undefined && fits(known.value, schema)) return known.value;
  const choices = (schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf']) as Json[] | undefined;
  if (choices !== undefined) return inner(choices.find((choice) => choice['type'] !== 'null') ?? (choices[0] as Json));
  const type = Array.isArray(schema['type'])
    ? (schema['type'] as string[]).find((name) => name !== 'null')
    : (schema['type'] as string | undefined);
  switch (type) {
    case 'object':
      return objectOf(schema, options.requiredOnly === true, at, inner);
    case 'array':
      return [inner(schema['items'] as Json, { schema: at.schema, field: singular(at.field) })];
    case 'boolean':
      return false;
    case 'integer':
    case 'number':
      return numberOf(schema);
    case 'string': {
      const format = FORMATS[String(schema['format'])];
      if (format !== undefined) return format;
      throw new NoExample(at);
    }
    case 'null':
      return null;
    default:
      return {};
  }
}

function objectOf(
  schema: Json,
  requiredOnly: boolean,
  at: Place,
  inner: (schema: Json, place: Place) => unknown,
): Json {
  const required = new Set((schema['required'] as string[] | undefined) ?? []);
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Json>).filter(
    ([name]) => !requiredOnly || required.has(name),
  );
  return Object.fromEntries(
    properties.map(([name, property]) => [name, inner(property, { schema: at.schema, field: name })]),
  );
}

function knownFor({ schema, field }: Place): { readonly value: unknown } | undefined {
  for (const name of [`${schema}.${field}`, field])
    if (field !== '' && Object.hasOwn(FIELD_EXAMPLES, name)) return { value: FIELD_EXAMPLES[name] };
  return undefined;
}

const FORMS: Readonly<Record<string, RegExp>> = {
  'date-time': /^\d{4}-\d\d-\d\dT/,
  date: /^\d{4}-\d\d-\d\d$/,
  uuid: /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/,
  email: /@/,
};

/** Whether a value is of the kind that a schema wants; what a field means elsewhere need not be what it means here. */
function fits(value: unknown, schema: Json): boolean {
  const kinds = [schema, ...(((schema['anyOf'] ?? schema['oneOf']) as Json[] | undefined) ?? [])].flatMap(
    (choice) => choice['type'] ?? [],
  );
  if (kinds.length === 0) return true;
  if (value === null) return kinds.includes('null');
  if (Array.isArray(value)) return kinds.includes('array');
  const form = [schema, ...(((schema['anyOf'] ?? schema['oneOf']) as Json[] | undefined) ?? [])]
    .map((choice) => FORMS[String(choice['format'])])
    .find((found) => found !== undefined);
  if (form !== undefined && !form.test(String(value))) return false;
  if (typeof value === 'number')
    return kinds.includes('number') || (kinds.includes('integer') && Number.isInteger(value));
  return kinds.includes(typeof value);
}

function numberOf(schema: Json): number {
  const least = (schema['minimum'] ?? 0) as number;
  return Math.max(least <= -Number.MAX_SAFE_INTEGER ? 0 : least, Math.min(1, (schema['maximum'] ?? 1) as number));
}

const singular = (field: string): string => field.replace(/ies$/, 'y').replace(/s$/, '');
