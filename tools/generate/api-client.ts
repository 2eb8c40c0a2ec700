import { type Operation, operations } from '@slipway/contracts';
import { type GeneratedFile, NOTICE } from './generated-file.ts';

const parametersOf = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string);

/** `libs/api-client/src/generated.ts`: one function an operation. It imports types only, so a browser does not load the schemas for it. */
export function apiClient(): GeneratedFile {
  const entries = Object.entries(operations) as [string, Operation][];
  const functions = entries.map(([name, operation]) => functionOf(name, operation));
  const downloads = entries.filter(([, operation]) => operation.produces !== undefined).map(([name, operation]) => urlFunctionOf(name, operation));
  return {
    path: 'libs/api-client/src/generated.ts',
    content: `// ${NOTICE}
import type { OperationBody, OperationQuery, OperationResponse } from '@slipway/contracts';
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
  const codes = operation.errors.length === 0 ? '' : ` Fails with ${operation.errors.map((code) => `\`${code}\``).join(', ')} besides the common codes.`;
  return `    /** ${operation.summary}.${codes} */
    ${name}: (request: ${argumentsType}${mayBeAbsent ? ' = {}' : ''}) =>
      call({ method: '${operation.method}', url: urlOf(baseUrl, '${operation.path}', ${objectOf(parameters)}, ${operation.query === undefined ? 'undefined' : 'request.query'}), ${operation.body === undefined ? '' : 'body: request.body, '}keyed: ${operation.idempotency === 'keyed'}, answer: '${answer}', options: request }) as Promise<${result}>,`;
}

function urlFunctionOf(name: string, operation: Operation): string {
  const parameters = parametersOf(operation.path);
  const fields = [...parameters.map((parameter) => `${parameter}: string`), ...(operation.query === undefined ? [] : [`query?: OperationQuery<'${name}'>`])];
  return `  ${name}: (request: { ${fields.join('; ')} }, baseUrl = ''): string => urlOf(baseUrl, '${operation.path}', ${objectOf(parameters)}, ${operation.query === undefined ? 'undefined' : 'request.query'}),`;
}

function objectOf(parameters: readonly string[]): string {
  return parameters.length === 0 ? '{}' : `{ ${parameters.map((parameter) => `${parameter}: request.${parameter}`).join(', ')} }`;
}
