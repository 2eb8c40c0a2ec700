import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';

type Json = Record<string, unknown>;
interface Document {
  readonly paths: Record<string, Record<string, Json>>;
  readonly components?: { readonly schemas?: Record<string, Json>; readonly responses?: Record<string, Json> };
}
/** What a caller sends, or what it gets: what is allowed there differs. */
type Direction = 'request' | 'answer';

const RELEASED = 'docs/api/released';
/** Deeper than any of our schemas; a schema that names itself ends there. */
const MAX_DEPTH = 12;

/**
 * What in the present document breaks a program that was written for the released one, a sentence each: an operation, a
 * parameter or a field that is gone, something new that must be sent, a value that is no longer taken, a type, a
 * permission or a success that is another. New operations and new failures break nothing, nor do new fields of answers
 * that say by a default what their absence means, and enumerations in answers are open.
 */
export function breakingChanges(root: string): string[] {
  const released = globSync(`${RELEASED}/openapi-*.json`, { cwd: root });
  if (released.length !== 1)
    return [`${RELEASED} has ${released.length} documents; it holds that of the newest release alone`];
  const read = (file: string): Document => JSON.parse(readFileSync(path.join(root, file), 'utf8')) as Document;
  const list = path.join(root, RELEASED, 'accepted.txt');
  const accepted = new Set(existsSync(list) ? readFileSync(list, 'utf8').split('\n') : []);
  return changesThatBreak(read(released[0] as string), read('docs/api/openapi.json')).filter(
    (change) => !accepted.has(change),
  );
}

export function changesThatBreak(old: Document, now: Document): string[] {
  const found: string[] = [];
  for (const [address, methods] of Object.entries(old.paths))
    for (const [method, before] of Object.entries(methods)) {
      const after = now.paths[address]?.[method];
      const name = `${method.toUpperCase()} ${address}`;
      if (after === undefined) found.push(`${name}: is gone`);
      else found.push(...operationChanges(before, after, old, now).map((change) => `${name}: ${change}`));
    }
  return [...new Set(found)];
}

function operationChanges(before: Json, after: Json, old: Document, now: Document): string[] {
  const found: string[] = [];
  for (const field of ['x-slipway-permission', 'operationId'])
    if (before[field] !== after[field]) found.push(`${field} was ${before[field]} and is ${after[field]}`);
  if (after['x-slipway-idempotency'] !== before['x-slipway-idempotency'] && after['x-slipway-idempotency'] === 'none')
    found.push('cannot be repeated any more');

  const parameters = (operation: Json): Map<string, Json> =>
    new Map(((operation['parameters'] ?? []) as Json[]).map((one) => [`${one['in']} ${one['name']}`, one]));
  const [had, has] = [parameters(before), parameters(after)];
  for (const [name, one] of had) {
    const other = has.get(name);
    if (other === undefined) found.push(`parameter ${name} is gone`);
    else
      found.push(
        ...schemaChanges(one['schema'] as Json, other['schema'] as Json, {
          old,
          now,
          direction: 'request',
          at: `parameter ${name}`,
        }),
      );
  }
  for (const [name, one] of has)
    if (one['required'] === true && had.get(name)?.['required'] !== true) found.push(`parameter ${name} must be sent`);

  const [sent, wanted] = [before['requestBody'] as Json | undefined, after['requestBody'] as Json | undefined];
  if (sent === undefined && wanted?.['required'] === true) found.push('a body must be sent');
  for (const [type, schema] of contents(sent)) {
    const other = new Map(contents(wanted)).get(type);
    found.push(
      ...(other === undefined
        ? [`takes no ${type} any more`]
        : schemaChanges(schema, other, { old, now, direction: 'request', at: 'body' })),
    );
  }

  const successes = (operation: Json): [string, Json][] =>
    Object.entries(operation['responses'] as Record<string, Json>).filter(([status]) => status.startsWith('2'));
  const answers = new Map(successes(after));
  for (const [status, response] of successes(before)) {
    const answer = answers.get(status);
    if (answer === undefined) found.push(`does not answer ${status} any more`);
    else
      for (const [type, schema] of contents(response)) {
        const other = new Map(contents(answer)).get(type);
        found.push(
          ...(other === undefined
            ? [`does not answer ${type} any more`]
            : schemaChanges(schema, other, { old, now, direction: 'answer', at: 'answer' })),
        );
      }
  }
  return found;
}

const contents = (of: Json | undefined): [string, Json][] =>
  Object.entries((of?.['content'] ?? {}) as Record<string, { schema?: Json }>).map(([type, media]) => [
    type,
    media.schema ?? {},
  ]);

/** Where two schemas stand. */
interface Place {
  readonly old: Document;
  readonly now: Document;
  readonly direction: Direction;
  /** For sentences: `body.name`. */
  readonly at: string;
}

function schemaChanges(given: Json, other: Json, place: Place, depth = 0): string[] {
  const { old, now, direction, at } = place;
  if (depth > MAX_DEPTH) return [];
  const before = resolved(given, old);
  const after = resolved(other, now);
  const [had, has] = [typesOf(before, old), typesOf(after, now)];
  // An answer may be less than before, a request may be more.
  const [narrow, wide] = direction === 'answer' ? [has, had] : [had, has];
  if (
    narrow.size > 0 &&
    wide.size > 0 &&
    [...narrow].some((type) => !wide.has(type) && !(type === 'integer' && wide.has('number')))
  )
    return [`${at} was ${[...had].join(' or ')} and is ${[...has].join(' or ')}`];

  const found: string[] = [];
  const properties = (schema: Json): Record<string, Json> => (schema['properties'] ?? {}) as Record<string, Json>;
  const required = (schema: Json): Set<string> => new Set((schema['required'] ?? []) as string[]);
  for (const [name, property] of Object.entries(properties(before))) {
    const next = properties(after)[name];
    if (next === undefined) found.push(`${at}.${name} is gone`);
    else found.push(...schemaChanges(property, next, { ...place, at: `${at}.${name}` }, depth + 1));
  }
  if (direction === 'request') {
    for (const name of required(after)) if (!required(before).has(name)) found.push(`${at}.${name} must be sent`);
    if (before['enum'] !== undefined && after['enum'] !== undefined)
      for (const value of before['enum'] as unknown[])
        if (!(after['enum'] as unknown[]).includes(value))
          found.push(`${at} does not take ${JSON.stringify(value)} any more`);
    for (const limit of ['maxLength', 'maximum', 'maxItems'])
      if (numberOf(after, limit, Infinity) < numberOf(before, limit, Infinity))
        found.push(`${at} has a lower ${limit}`);
    for (const limit of ['minLength', 'minimum', 'minItems'])
      if (numberOf(after, limit, -Infinity) > numberOf(before, limit, -Infinity))
        found.push(`${at} has a higher ${limit}`);
  } else {
    for (const name of required(before))
      if (properties(after)[name] !== undefined && !required(after).has(name))
        found.push(`${at}.${name} is not always there any more`);
    if (before['properties'] !== undefined)
      for (const name of required(after))
        if (properties(before)[name] === undefined && !('default' in (properties(after)[name] ?? {})))
          found.push(
            `${at}.${name} is new and has no default: during an upgrade a page has answers of the released version, too`,
          );
  }
  if (before['items'] !== undefined && after['items'] !== undefined)
    found.push(
      ...schemaChanges(before['items'] as Json, after['items'] as Json, { ...place, at: `${at}[]` }, depth + 1),
    );
  return found;
}

const numberOf = (schema: Json, field: string, otherwise: number): number =>
  (schema[field] as number | undefined) ?? otherwise;

function resolved(schema: Json, document: Document): Json {
  const name = /^#\/components\/schemas\/(.+)$/.exec(String(schema['$ref'] ?? ''))?.[1];
  if (name !== undefined) return resolved(document.components?.schemas?.[name] ?? {}, document);
  // Of "this or null" what is not null is what can be checked.
  const choices = ((schema['anyOf'] ?? schema['oneOf'] ?? []) as Json[]).filter((choice) => choice['type'] !== 'null');
  return choices.length === 1 ? { ...resolved(choices[0] as Json, document), nullable: true } : schema;
}

/** JSON types that a schema allows; empty when it does not say. */
function typesOf(schema: Json, document: Document): Set<string> {
  const own = schema['type'] === undefined ? [] : [schema['type']].flat();
  const choices = ((schema['anyOf'] ?? schema['oneOf'] ?? []) as Json[]).flatMap((choice) => [
    ...typesOf(resolved(choice, document), document),
  ]);
  return new Set([...(own as string[]), ...choices, ...(schema['nullable'] === true ? ['null'] : [])]);
}
