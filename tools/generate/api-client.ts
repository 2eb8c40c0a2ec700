import { type Operation, operations } from '@slipway/contracts/operations';
import { z } from 'zod';
import { type GeneratedFile, NOTICE } from './generated-file.ts';

const parametersOf = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string);

/**
 * `libs/api-client/src/generated.ts`: one function an operation. It imports types only, so a browser does not load the
 * schemas for it.
 */
export function apiClient(): GeneratedFile {
  const entries = Object.entries(operations) as [string, Operation][];
  // An upload has no function: what shows its progress sends it by itself.
  const functions = entries
    .filter(([, operation]) => operation.consumes === undefined)
    .map(([name, operation]) => functionOf(name, operation));
  const uploads = entries
    .filter(([, operation]) => operation.consumes !== undefined)
    .map(([name, operation]) => urlFunctionOf(name, operation));
  const downloads = entries
    .filter(([, operation]) => operation.produces !== undefined)
    .map(([name, operation]) => urlFunctionOf(name, operation));
  return {
    path: 'libs/api-client/src/generated.ts',
    content: `// ${NOTICE}
import type { OperationBody, OperationQuery, OperationResponse } from '@slipway/contracts/operations';
import { type Caller, type CallOptions, urlOf } from './call.js';

export function operationsOf(baseUrl: string, call: Caller) {
  return {
${functions.join('\n')}
  };
}

export type Operations = ReturnType<typeof operationsOf>;

/** Addresses of downloads, for a link that the browser follows by itself. */
export const downloadUrls = {
${downloads.join('\n')}
};

/** Addresses that bytes are sent to. */
export const uploadUrls = {
${uploads.join('\n')}
};
`,
  };
}

function functionOf(name: string, operation: Operation): string {
  const parameters = parametersOf(operation.path);
  const queryOptional = operation.query === undefined || operation.query.safeParse({}).success;
  const fields = [
    ...parameters.map((parameter) => `${parameter}: string`),
    ...(operation.query === undefined ? [] : [`query${queryOptional ? '?' : ''}: OperationQuery<'${name}'>`]),
    ...(operation.body === undefined ? [] : [`body: OperationBody<'${name}'>`]),
  ];
  const argumentsType = fields.length === 0 ? 'CallOptions' : `{ ${fields.join('; ')} } & CallOptions`;
  const mayBeAbsent = parameters.length === 0 && operation.body === undefined && queryOptional;
  const answer = operation.produces !== undefined ? 'stream' : operation.response === undefined ? 'none' : 'json';
  const result = answer === 'stream' ? 'Response' : answer === 'none' ? 'void' : `OperationResponse<'${name}'>`;
  const codes =
    operation.errors.length === 0
      ? ''
      : ` Fails with ${operation.errors.map((code) => `\`${code}\``).join(', ')} besides the common codes.`;
  return `    /** ${operation.summary}.${codes} */
    ${name}: (request: ${argumentsType}${mayBeAbsent ? ' = {}' : ''}) =>
      call({ method: '${operation.method}', url: urlOf(baseUrl, '${operation.path}', ${objectOf(parameters)}, ${operation.query === undefined ? 'undefined' : 'request.query'}), ${operation.body === undefined ? '' : 'body: request.body, '}keyed: ${operation.idempotency === 'keyed'}, answer: '${answer}', ${absentOf(operation)}options: request }) as Promise<${result}>,`;
}

/** Where an answer has fields with a default: those that an older app-server does not send. */
function absentOf({ response }: Operation): string {
  if (response === undefined) return '';
  const found = defaultsOf(
    z.toJSONSchema(response, { io: 'output', unrepresentable: 'any', reused: 'inline' }) as Schema,
    [],
  );
  return found.length === 0 ? '' : `absent: ${JSON.stringify(found)}, `;
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly default?: unknown;
}

/** Fields of objects and of lists of objects (`*`); what is one of several kinds is not followed. */
function defaultsOf(schema: Schema, at: readonly string[]): [at: readonly string[], value: unknown][] {
  const [only, ...others] = (schema.anyOf ?? []).filter(
    (choice) => choice.properties !== undefined || choice.items !== undefined,
  );
  const { properties = {}, items } = others.length === 0 ? (only ?? schema) : {};
  const found = Object.entries(properties).flatMap(([name, field]): [readonly string[], unknown][] => [
    ...('default' in field ? [[[...at, name], field.default] as [readonly string[], unknown]] : []),
    ...defaultsOf(field, [...at, name]),
  ]);
  return items === undefined ? found : [...found, ...defaultsOf(items, [...at, '*'])];
}

function urlFunctionOf(name: string, operation: Operation): string {
  const parameters = parametersOf(operation.path);
  const fields = [
    ...parameters.map((parameter) => `${parameter}: string`),
    ...(operation.query === undefined ? [] : [`query?: OperationQuery<'${name}'>`]),
  ];
  return `  ${name}: (request: { ${fields.join('; ')} }, baseUrl = ''): string => urlOf(baseUrl, '${operation.path}', ${objectOf(parameters)}, ${operation.query === undefined ? 'undefined' : 'request.query'}),`;
}

function objectOf(parameters: readonly string[]): string {
  return parameters.length === 0
    ? '{}'
    : `{ ${parameters.map((parameter) => `${parameter}: request.${parameter}`).join(', ')} }`;
}
