import type { z } from 'zod';
import { Problem } from '../errors/problem.js';
import { operations } from '../operations/list.js';
import { type Operation, proofOf } from '../operations/operation.js';
import { exampleOf, NoExample } from './example-of.js';
import type { Json } from './json.js';
import { OPERATION_EXAMPLES, PARAMETERS } from './operation-examples.js';
import { problemResponses, problemsOf } from './problems.js';
import { DocumentSchemas } from './schemas.js';

export interface OpenApi {
  /** OpenAPI 3.1. */
  readonly document: Json;
  /**
   * Problems of the examples, a sentence each: one for a request or an answer that has none, or one that its own schema
   * refuses.
   */
  readonly missing: readonly string[];
}

/**
 * The document of the REST API, made from the same table as the controllers and the client. Takes about a hundred
 * milliseconds.
 */
export function openApi(): OpenApi {
  const all = Object.values(operations) as Operation[];
  const schemas = new DocumentSchemas();
  schemas.of(Problem, 'output');
  const made = all.map((operation) => [operation, operationObject(operation, schemas)] as const);
  const components = schemas.components();
  const missing = made.flatMap(([operation, object]) => addExamples(operation, object, components));
  const paths: Record<string, Record<string, Json>> = {};
  for (const [{ path, method }, object] of made) paths[path] = { ...paths[path], [method.toLowerCase()]: object };
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Slipway',
      version: '1',
      description:
        'Coding agents for teams. Every failure is a problem document (RFC 9457) with a code that has a page. Programs send `Authorization: Bearer slp_…`; a browser has its session.\n\n`x-slipway-permission` is what a caller must hold, `null`: nothing but who they are. `x-slipway-idempotency`: `idempotent` may be repeated, `keyed` may with the same Idempotency-Key, `none` does it again.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }, { session: [] }],
    tags: [...new Set(all.map(tagOf))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, `slp_…`. It can do what its scopes say and its owner may.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'keycloak_auth',
          description: 'The session of a signed-in user.',
        },
      },
      responses: problemResponses(all),
      schemas: components,
    },
  };
  return { document, missing };
}

const tagOf = (operation: Operation): string => operation.id.split('.')[0] as string;

function operationObject(operation: Operation, schemas: DocumentSchemas): Json {
  return {
    operationId: operation.id,
    summary: operation.summary,
    tags: [tagOf(operation)],
    'x-slipway-permission': operation.permission,
    'x-slipway-idempotency': operation.idempotency,
    ...(operation.anonymous === true
      ? { security: [] }
      : proofOf(operation) === 'session'
        ? { security: [{ session: [] }] }
        : {}),
    parameters: [...pathParameters(operation), ...queryParameters(operation, schemas), ...headerParameters(operation)],
    ...(operation.consumes === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { [operation.consumes]: { schema: { type: 'string', format: 'binary' }, example: 'a,b\n1,2\n' } },
          },
        }),
    ...(operation.body === undefined
      ? {}
      : {
          requestBody: {
            required: !operation.body.safeParse({}).success,
            content: { 'application/json': { schema: schemas.of(operation.body, 'input') } },
          },
        }),
    responses: { [operation.status]: success(operation, schemas), ...problemsOf(operation) },
  };
}

function pathParameters({ path }: Operation): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    ...PARAMETERS[name],
  }));
}

function queryParameters(operation: Operation, schemas: DocumentSchemas): Json[] {
  if (operation.query === undefined) return [];
  const { properties = {}, required = [] } = schemas.text(operation.query, 'input') as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
}

function headerParameters(operation: Operation): Json[] {
  const header = (name: string, maxLength: number, description: string, example: string): Json => ({
    ...{ name, in: 'header', required: false, schema: { type: 'string', maxLength }, description, example },
  });
  return [
    ...(operation.idempotency === 'keyed'
      ? [header('Idempotency-Key', 255, 'The same key again is the same request, for 24 hours.', '6f1c0c1e-deploy-42')]
      : []),
    ...(operation.versioned === true && operation.method !== 'GET'
      ? [header('If-Match', 100, 'The ETag of what was read: the change is refused when there is a newer one.', '"3"')]
      : []),
  ];
}

function success(operation: Operation, schemas: DocumentSchemas): Json {
  if (operation.produces !== undefined)
    return {
      description: operation.summary,
      content: {
        [operation.produces]: {
          schema:
            operation.produces === 'application/json'
              ? { type: 'array', items: { type: 'object' } }
              : { type: 'string' },
        },
      },
    };
  if (operation.response === undefined) return { description: 'Done' };
  const json = { 'application/json': { schema: schemas.of(operation.response, 'output') } };
  return {
    description: operation.summary,
    ...(operation.versioned === true
      ? { headers: { ETag: { schema: { type: 'string' }, description: 'The version of what is answered.' } } }
      : {}),
    content:
      operation.alternative === undefined ? json : { ...json, [operation.alternative]: { schema: { type: 'string' } } },
  };
}

/** Puts the examples into an operation. @returns what is missing. */
function addExamples(operation: Operation, object: Json, components: Json): string[] {
  const own = OPERATION_EXAMPLES[operation.id] ?? {};
  const missing: string[] = [];
  const attempt = (what: string, make: () => void): void => {
    try {
      make();
    } catch (error) {
      if (!(error instanceof NoExample)) throw error;
      missing.push(`${operation.id}, ${what}: ${error.message}`);
    }
  };
  const fill = (what: string, media: Json, schema: z.ZodType, given: unknown): void =>
    attempt(what, () => {
      const candidates =
        given === undefined
          ? [{}, { requiredOnly: true }].map((options) => () => exampleOf(media['schema'] as Json, components, options))
          : [() => given];
      const failures: string[] = [];
      for (const make of candidates) {
        const value = make();
        const parsed = schema.safeParse(value);
        if (parsed.success) {
          media['example'] = value;
          return;
        }
        failures.push(parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`).join(', '));
      }
      missing.push(
        `${operation.id}, ${what}: its schema refuses the example (${failures[0]}): give one in libs/contracts/src/openapi/operation-examples.ts`,
      );
    });
  for (const parameter of object['parameters'] as Json[]) {
    if (parameter['example'] !== undefined || (parameter['in'] === 'query' && parameter['required'] !== true)) continue;
    attempt(`parameter ${parameter['name']}`, () => {
      parameter['example'] = exampleOf(
        parameter['schema'] as Json,
        components,
        {},
        { schema: tagOf(operation), field: String(parameter['name']) },
      );
    });
  }
  if (operation.body !== undefined)
    fill('request', contentOf(object['requestBody'] as Json, 'application/json'), operation.body, own.body);
  const answer = (object['responses'] as Record<string, Json>)[String(operation.status)] as Json;
  if (operation.response !== undefined && operation.produces === undefined)
    fill('answer', contentOf(answer, 'application/json'), operation.response, own.response);
  for (const type of [operation.produces, operation.alternative])
    if (type !== undefined) {
      if (own.text === undefined)
        missing.push(
          `${operation.id}, ${type}: no example: add one to libs/contracts/src/openapi/operation-examples.ts`,
        );
      contentOf(answer, type)['example'] =
        type === 'application/json' && own.text !== undefined ? JSON.parse(own.text) : own.text;
    }
  return missing;
}

const contentOf = (of: Json, type: string): Json => (of['content'] as Record<string, Json>)[type] as Json;
