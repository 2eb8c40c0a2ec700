import { SlipwayError } from '@slipway/errors';

/**
 * What Gemini reads of a JSON schema by its documentation; of all else it refuses some and ignores some, by the model.
 */
const READ = new Set([
  'type',
  'title',
  'description',
  'enum',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'required',
  'propertyOrdering',
  '$anchor',
]);
const FORMATS = new Set(['date-time', 'date', 'time', 'duration', 'int32', 'int64', 'float', 'double', 'enum']);
/** Said in the description instead, so that the model still knows. */
const DESCRIBED = [
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'multipleOf',
  'minProperties',
  'maxProperties',
  'uniqueItems',
  'default',
] as const;
/** Longest value that is kept. UTF-16 code units. */
const MAX_HINT_LENGTH = 200;
const MAX_DEPTH = 64;

type Schema = Record<string, unknown>;

/**
 * An equivalent schema in Gemini's subset: `const`, `oneOf`, `allOf`, exclusive bounds and `definitions` are rewritten,
 * other keywords move to the description or are left out. It never forbids more than the given one, but where an
 * `allOf` sets one thing twice.
 * @throws SlipwayError `request.invalid` for a schema deeper than 64.
 */
export function geminiSchema(schema: unknown, depth = 0): Schema {
  if (depth > MAX_DEPTH) throw new SlipwayError('request.invalid', 'tools: a schema is nested more than 64 deep');
  if (!isSchema(schema)) return {};
  const given = Array.isArray(schema['allOf']) ? mergedOf(schema, schema['allOf']) : schema;
  const inner = (value: unknown): Schema => geminiSchema(value, depth + 1);
  const definitions = { ...asSchema(given['definitions']), ...asSchema(given['$defs']) };
  const result: Schema = Object.keys(definitions).length === 0 ? {} : { $defs: mapOf(definitions, inner) };
  const { $ref: reference } = given;
  // Beside a reference Gemini allows nothing but names with a dollar.
  if (typeof reference === 'string') return { ...result, $ref: reference.replace(/^#\/definitions\//, '#/$defs/') };
  for (const [name, value] of Object.entries(given)) if (READ.has(name)) result[name] = value;
  if (typeof given['format'] === 'string' && FORMATS.has(given['format'])) result['format'] = given['format'];
  if (given['const'] !== undefined) result['enum'] = [given['const']];
  keepWordsAndNumbers(result);
  boundsOf(given, result);
  if (isSchema(given['properties'])) result['properties'] = mapOf(given['properties'], inner);
  if (isSchema(given['additionalProperties'])) result['additionalProperties'] = inner(given['additionalProperties']);
  else if (typeof given['additionalProperties'] === 'boolean')
    result['additionalProperties'] = given['additionalProperties'];
  if (Array.isArray(given['items'])) result['prefixItems'] = given['items'].map(inner);
  else if (given['items'] !== undefined) result['items'] = inner(given['items']);
  if (Array.isArray(given['prefixItems'])) result['prefixItems'] = given['prefixItems'].map(inner);
  const choices = [given['anyOf'], given['oneOf']].find((list) => Array.isArray(list) && list.length > 0);
  if (Array.isArray(choices)) result['anyOf'] = choices.map(inner);
  tell(given, result);
  complete(result);
  return result;
}

/** `enum` may hold only words and numbers. */
function keepWordsAndNumbers(result: Schema): void {
  const { enum: values } = result;
  if (!Array.isArray(values)) return void delete result['enum'];
  if (!values.every((value) => typeof value === 'string' || typeof value === 'number')) delete result['enum'];
}

/** Adds the type that is implied, and drops required members without a description: Gemini refuses both. */
function complete(result: Schema): void {
  const { enum: values, properties, required } = result;
  const words = Array.isArray(values) && values.every((value) => typeof value === 'string');
  const guess = isSchema(properties)
    ? 'object'
    : result['items'] !== undefined || result['prefixItems'] !== undefined
      ? 'array'
      : words
        ? 'string'
        : undefined;
  if (guess !== undefined && result['type'] === undefined && result['anyOf'] === undefined) result['type'] = guess;
  if (!Array.isArray(required)) return;
  const known = isSchema(properties)
    ? required.filter((name) => typeof name === 'string' && Object.hasOwn(properties, name))
    : [];
  if (known.length === 0) delete result['required'];
  else result['required'] = known;
}

function boundsOf(given: Schema, result: Schema): void {
  const step = given['type'] === 'integer' ? 1 : 0;
  const { exclusiveMinimum: above, exclusiveMaximum: below } = given;
  if (typeof above === 'number' && typeof result['minimum'] !== 'number') result['minimum'] = above + step;
  if (typeof below === 'number' && typeof result['maximum'] !== 'number') result['maximum'] = below - step;
}

function tell(given: Schema, result: Schema): void {
  const described = DESCRIBED.filter((name) => given[name] !== undefined && result[name] === undefined)
    .map((name) => `${name}: ${JSON.stringify(given[name])}`)
    .filter((text) => text.length <= MAX_HINT_LENGTH);
  if (described.length === 0) return;
  const { description } = result;
  result['description'] =
    `${typeof description === 'string' && description !== '' ? `${description} ` : ''}(${described.join(', ')})`;
}

/** All parts of an `allOf` as one: properties and required names of each, of other keywords the last one. */
function mergedOf(schema: Schema, parts: readonly unknown[]): Schema {
  const { allOf: _, ...own } = schema;
  const all = [...parts.filter(isSchema), own];
  const required = all.flatMap((part) => (Array.isArray(part['required']) ? part['required'] : []));
  const properties = Object.assign({}, ...all.map((part) => asSchema(part['properties']))) as Schema;
  const merged = Object.assign({}, ...all) as Schema;
  return {
    ...merged,
    ...(required.length === 0 ? {} : { required: [...new Set(required)] }),
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
  };
}

function mapOf(schemas: Schema, inner: (value: unknown) => Schema): Schema {
  return Object.fromEntries(Object.entries(schemas).map(([name, value]) => [name, inner(value)]));
}

function asSchema(value: unknown): Schema {
  return isSchema(value) ? value : {};
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
