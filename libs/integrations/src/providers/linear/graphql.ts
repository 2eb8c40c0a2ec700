import { z } from 'zod';
import type { ProviderClient } from '../../calls/provider-client.js';
import { ProviderRefusal, type RefusalKind } from '../../calls/provider-refusal.js';
import { fields, list, maybe, name, text } from '../../reading/fields.js';

const failures = list(fields({ message: text, extensions: maybe(fields({ code: maybe(name), type: maybe(name) })) }));
const result = fields({ errors: failures, data: z.unknown().optional() });

/**
 * One document with its variables. @returns `data`, to be read by who asked. @throws ProviderRefusal also for refusals
 * that come with 200.
 */
export type LinearCall = (query: string, variables: object) => Promise<unknown>;

export function linearCalls(client: ProviderClient): LinearCall {
  return async (query, variables) =>
    heard(
      (await asked(client.call({ method: 'POST', path: '/graphql', body: { query, variables }, answer: result }))).body,
    );
}

/** Linear answers 400 where it limits calls. */
async function asked<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ProviderRefusal && error.status === 400 && /RATELIMITED/.test(error.message))
      throw limited(error.message);
    throw error;
  }
}

const limited = (message: string): ProviderRefusal =>
  new ProviderRefusal(message, { kind: 'limited', status: 400, retryAt: null, outcomeUnknown: false });

/** GraphQL's refusals come with 200. */
function heard({ errors, data }: z.output<typeof result>): unknown {
  const [first] = errors;
  if (first === undefined) return data;
  const { code, type } = first.extensions ?? { code: null, type: null };
  const message = `graphql: ${first.message.slice(0, 300)}`;
  if (code === 'RATELIMITED') throw limited(message);
  const kind: RefusalKind =
    code === 'AUTHENTICATION_ERROR' || type === 'authentication error'
      ? 'credential'
      : code === 'FORBIDDEN' || type === 'forbidden'
        ? 'forbidden'
        : /not found/i.test(first.message)
          ? 'missing'
          : code === 'INTERNAL_SERVER_ERROR'
            ? 'unavailable'
            : 'invalid';
  throw new ProviderRefusal(message, { kind, status: 200, retryAt: null, outcomeUnknown: kind === 'unavailable' });
}
