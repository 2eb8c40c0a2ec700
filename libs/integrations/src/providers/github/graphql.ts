import { z } from 'zod';
import type { ProviderClient } from '../../calls/provider-client.js';
import { ProviderRefusal, type RefusalKind } from '../../calls/provider-refusal.js';
import { fields, list, maybe, name, text } from '../../reading/fields.js';

/** Beside the REST API: `api.github.com/graphql`, and `/api/graphql` where that is at `/api/v3`. */
const GRAPHQL = '/../graphql';
/** Without a word of GitHub on when. Milliseconds. */
const LIMIT_WAIT_MS = 60_000;
const KINDS: Readonly<Record<string, RefusalKind>> = {
  FORBIDDEN: 'forbidden',
  INSUFFICIENT_SCOPES: 'forbidden',
  NOT_FOUND: 'missing',
  RATE_LIMITED: 'limited',
};
const refused = fields({ errors: maybe(list(fields({ type: maybe(name), message: text }))) });

/**
 * One query or mutation. GitHub answers 200 for what it refuses; what it answers beside an error is not taken.
 * @throws ProviderRefusal
 */
export async function graphql<Schema extends z.ZodType>(
  client: ProviderClient,
  asked: { readonly query: string; readonly variables: Readonly<Record<string, unknown>>; readonly data: Schema },
  now: () => Date = () => new Date(),
): Promise<z.output<Schema>> {
  const { query, variables, data } = asked;
  const { body } = await client.call({
    method: 'POST',
    path: GRAPHQL,
    body: { query, variables },
    answer: z.unknown(),
  });
  const [error] = refused.safeParse(body).data?.errors ?? [];
  if (error !== undefined) {
    const kind = KINDS[error.type ?? ''] ?? 'invalid';
    const retryAt = kind === 'limited' ? new Date(now().getTime() + LIMIT_WAIT_MS) : null;
    throw new ProviderRefusal(`POST /graphql: 200 ${error.message.slice(0, 300)}`, {
      kind,
      status: 200,
      retryAt,
      outcomeUnknown: false,
    });
  }
  const read = data.safeParse((body as { readonly data?: unknown } | null)?.data);
  if (!read.success)
    throw new ProviderRefusal(
      `POST /graphql: the answer misses ${read.error.issues[0]?.path.join('.') ?? 'everything'}`,
      {
        kind: 'unreadable',
        status: 200,
        retryAt: null,
        outcomeUnknown: false,
      },
    );
  return read.data;
}
