import type { CreateApiKey, CreatedApiKey } from '@slipway/contracts/identity';
import type { Permission } from '@slipway/contracts/organizations';
import type { Answer, ConversationApp, User } from './conversation-app.js';

/** A key of this user's, made over HTTP. @throws Error when it is refused. */
export async function makeKey(
  app: ConversationApp,
  user: User,
  scopes: readonly Permission[],
  more: Partial<CreateApiKey> = {},
  orgId = user.orgId,
): Promise<CreatedApiKey> {
  const { status, body } = await app.http<CreatedApiKey>(user, 'POST', `/api/v1/orgs/${orgId}/api-keys`, {
    name: 'a program',
    scopes,
    ...more,
  });
  if (status !== 201) throw new Error(`api-keys answered ${status}: ${JSON.stringify(body)}`);
  return body;
}

/** A request of a program: the key, and nothing that a browser would send. */
export async function withKey<T = Record<string, unknown>>(
  url: string,
  token: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer<T>> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  const json = (response.headers.get('content-type') ?? '').includes('json');
  return {
    status: response.status,
    headers: response.headers,
    body: (json && text !== '' ? JSON.parse(text) : text) as T,
  };
}
