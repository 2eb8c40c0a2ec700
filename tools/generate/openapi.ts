import * as contracts from '@slipway/contracts';
import { COMMON_ERRORS, ERRORS, type ErrorCode, type Operation, operations, Problem } from '@slipway/contracts';
import { z } from 'zod';
import type { GeneratedFile } from './generated-file.ts';

type Json = Record<string, unknown>;

/** `docs/api/openapi.json`: OpenAPI 3.1, made from the same table that the controllers and the client are. */
export function openapi(): GeneratedFile {
  const registry = namedSchemas();
  const paths: Record<string, Record<string, Json>> = {};
  for (const operation of Object.values(operations) as Operation[]) {
    paths[operation.path] ??= {};
    (paths[operation.path] as Record<string, Json>)[operation.method.toLowerCase()] = operationObject(operation, registry);
  }
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Slipway',
      version: '1',
      description: 'Coding agents for teams. Every failure is a problem document (RFC 9457) with a code of `docs/errors`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ session: [] }],
    tags: [...new Set((Object.values(operations) as Operation[]).map((operation) => operation.id.split('.')[0]))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: 'keycloak_auth', description: 'The session of a signed-in person.' } },
      responses: Object.fromEntries(problemStatuses().map(([status, codes]) => [`Problem${status}`, problemResponse(codes)])),
      schemas: { ...componentsOf(registry, 'output'), ...componentsOf(registry, 'input') },
    },
  };
  return { path: 'docs/api/openapi.json', content: `${JSON.stringify(document, null, 2)}\n` };
}

/** Every exported schema that an operation can reach, by its exported name. */
function namedSchemas(): ReadonlyMap<z.ZodType, string> {
  return new Map(Object.entries(contracts).flatMap(([name, value]) => (value instanceof z.ZodType ? [[value, name] as const] : [])));
}

const used = { input: new Map<z.ZodType, string>(), output: new Map<z.ZodType, string>() };

/** A reference when the schema has a name, its text when it has none. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', registry: ReadonlyMap<z.ZodType, string>): Json {
  const name = registry.get(schema);
  if (name === undefined) return textOf(schema, io, registry);
  used[io].set(schema, name);
  return { $ref: `#/components/schemas/${name}` };
}

/** zod writes named parts as `#/$defs/Name`: they become components. */
function textOf(schema: z.ZodType, io: 'input' | 'output', registry: ReadonlyMap<z.ZodType, string>): Json {
  const metadata = z.registry<{ id: string }>();
  for (const [named, id] of registry) if (named !== schema) metadata.add(named, { id });
  const { $schema: _, $defs, ...text } = z.toJSONSchema(schema, { io, metadata, unrepresentable: 'any', reused: 'inline' }) as Json;
  for (const id of Object.keys(($defs ?? {}) as Json)) {
    const named = [...registry].find(([, name]) => name === id)?.[0];
    if (named !== undefined) used[io].set(named, id);
  }
  return JSON.parse(JSON.stringify(text).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json;
}

function componentsOf(registry: ReadonlyMap<z.ZodType, string>, io: 'input' | 'output'): Json {
  const done: Json = {};
  // Writing one out can reach another that was not met before.
  for (let before = -1; before !== Object.keys(done).length; ) {
    before = Object.keys(done).length;
    for (const [schema, name] of [...used[io]]) done[name] ??= textOf(schema, io, registry);
  }
  return Object.fromEntries(Object.entries(done).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function operationObject(operation: Operation, registry: ReadonlyMap<z.ZodType, string>): Json {
  const pathParameters = [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => ({
    name: match[1],
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const query =
    operation.query === undefined
      ? { properties: {}, required: [] }
      : (textOf(operation.query, 'input', registry) as { properties?: Json; required?: string[] });
  const queryParameters = Object.entries(query.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: query.required?.includes(name) ?? false,
    schema,
  }));
  const key =
    operation.idempotency === 'keyed'
      ? [
          {
            name: 'Idempotency-Key',
            in: 'header',
            required: false,
            schema: { type: 'string', maxLength: 255 },
            description: 'The same key again is the same request, for 24 hours.',
          },
        ]
      : [];
  const match =
    operation.versioned === true && operation.method !== 'GET'
      ? [
          {
            name: 'If-Match',
            in: 'header',
            required: false,
            schema: { type: 'string', maxLength: 100 },
            description: 'The ETag of what was read: the change is refused when there is a newer one.',
          },
        ]
      : [];
  return {
    operationId: operation.id,
    summary: operation.summary,
    tags: [operation.id.split('.')[0]],
    'x-slipway-permission': operation.permission,
    'x-slipway-idempotency': operation.idempotency,
    parameters: [...pathParameters, ...queryParameters, ...key, ...match],
    ...(operation.body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: schemaOf(operation.body, 'input', registry) } } } }),
    responses: { [operation.status]: success(operation, registry), ...problemsOf(operation) },
  };
}

function success(operation: Operation, registry: ReadonlyMap<z.ZodType, string>): Json {
  if (operation.produces !== undefined) return { description: operation.summary, content: { [operation.produces]: { schema: { type: 'string' } } } };
  if (operation.response === undefined) return { description: 'Done' };
  const json = { 'application/json': { schema: schemaOf(operation.response, 'output', registry) } };
  return {
    description: operation.summary,
    ...(operation.versioned === true ? { headers: { ETag: { schema: { type: 'string' }, description: 'The version of what is answered.' } } } : {}),
    content: operation.alternative === undefined ? json : { ...json, [operation.alternative]: { schema: { type: 'string' } } },
  };
}

function codesByStatus(codes: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) byStatus.set(ERRORS[code].status, [...(byStatus.get(ERRORS[code].status) ?? []), code]);
  return new Map([...byStatus].sort(([a], [b]) => a - b));
}

function problemsOf(operation: Operation): Json {
  const own = codesByStatus([...COMMON_ERRORS, ...operation.errors]);
  const common = codesByStatus([...COMMON_ERRORS]);
  return Object.fromEntries(
    [...own].map(([status, codes]) => [
      status,
      codes.length === common.get(status)?.length ? { $ref: `#/components/responses/Problem${status}` } : problemResponse(codes),
    ]),
  );
}

function problemStatuses(): [number, ErrorCode[]][] {
  return [...codesByStatus([...COMMON_ERRORS])];
}

function problemResponse(codes: readonly ErrorCode[]): Json {
  used.output.set(Problem, 'Problem');
  const examples = Object.fromEntries(
    codes.map((code) => [
      code,
      {
        value: {
          type: `/errors/${code}`,
          title: ERRORS[code].title,
          status: ERRORS[code].status,
          detail: ERRORS[code].nextStep,
          code,
          retry: ERRORS[code].retry,
        },
      },
    ]),
  );
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].title}`).join('; '),
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' }, examples } },
  };
}
