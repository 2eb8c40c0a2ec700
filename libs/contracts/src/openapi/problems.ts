import { ERRORS, type ErrorCode } from '../errors/error-codes.js';
import { COMMON_ERRORS, type Operation, proofOf } from '../operations/operation.js';
import type { Json } from './json.js';

/**
 * Every code that an operation can answer: its own, those of every operation, and those that follow from what it is.
 * What the guard, the reader of bodies and the keeper of idempotency keys refuse is refused for every feature alike, so
 * no feature has to name it.
 */
export function errorsOf(operation: Operation): ErrorCode[] {
  const changes = operation.method !== 'GET';
  const codes: ErrorCode[] = [...COMMON_ERRORS];
  if (operation.body !== undefined || changes) codes.push('request.not-json', 'request.too-large');
  if (changes) codes.push('request.cross-site');
  if (operation.idempotency === 'keyed') codes.push('idempotency.mismatch', 'idempotency.in-progress');
  if (proofOf(operation) === 'session') codes.push('auth.session-needed');
  if (changes && operation.path.includes('{org}') && operation.whileDeleting !== true) codes.push('org.being-deleted');
  return [...new Set([...codes, ...operation.errors])];
}

/** The answers of an operation that are no success: one a status, with each of its codes as an example. */
export function problemsOf(operation: Operation): Json {
  return Object.fromEntries(
    [...codesByStatus(errorsOf(operation))].map(([status, codes]) => [
      status,
      { $ref: `#/components/responses/${nameOf(status, codes)}` },
    ]),
  );
}

/** Every answer that `problemsOf` names. */
export function problemResponses(operations: readonly Operation[]): Json {
  const responses: Json = {};
  for (const operation of operations)
    for (const [status, codes] of codesByStatus(errorsOf(operation)))
      responses[nameOf(status, codes)] ??= responseOf(codes);
  return Object.fromEntries(Object.entries(responses).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function codesByStatus(codes: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of [...codes].sort())
    byStatus.set(ERRORS[code].status, [...(byStatus.get(ERRORS[code].status) ?? []), code]);
  return new Map([...byStatus].sort(([a], [b]) => a - b));
}

const common: ReadonlyMap<number, ErrorCode[]> = codesByStatus([...COMMON_ERRORS]);

function nameOf(status: number, codes: readonly ErrorCode[]): string {
  const plain = common.get(status)?.join() === codes.join();
  return plain
    ? `Problem${status}`
    : `Problem${status}-${codes.filter((code) => !(COMMON_ERRORS as readonly string[]).includes(code)).join('_')}`;
}

function responseOf(codes: readonly ErrorCode[]): Json {
  const later = codes.some((code) => ERRORS[code].status === 429 || ERRORS[code].status === 503);
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].title}`).join('; '),
    ...(later
      ? {
          headers: {
            'Retry-After': { schema: { type: 'string' }, description: 'Seconds after which it may be tried again.' },
          },
        }
      : {}),
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(
          codes.map((code) => [code, { summary: ERRORS[code].title, value: problemExample(code) }]),
        ),
      },
    },
  };
}

function problemExample(code: ErrorCode): Json {
  const { title, status, nextStep, retry } = ERRORS[code];
  const fields = code === 'request.invalid' ? { fields: [{ path: 'name', message: 'is required' }] } : {};
  return {
    type: `https://slipway.example/docs/errors/${code}`,
    title,
    status,
    detail: nextStep,
    code,
    retry,
    requestId: 'req-7f3a9c1e',
    ...fields,
  };
}
