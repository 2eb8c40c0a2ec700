import { PERMISSIONS, type Permission, ROLE_PERMISSIONS } from '@slipway/contracts/organizations';
import type { SeededUser } from '@slipway/testing';

export interface Reply {
  readonly status: number;
  readonly json: unknown;
  /** The whole answer but what no two answers share: the request id. */
  readonly text: string;
}

/** A caller, and what the table allows them in the organization under test. */
export class Caller {
  constructor(
    readonly name: string,
    private readonly url: string,
    private readonly proof: Readonly<Record<string, string>>,
    /** `null`: no role there. */
    readonly permissions: ReadonlySet<Permission> | null,
    readonly kind: 'anonymous' | 'session' | 'api-key',
  ) {}

  may(permission: Permission): boolean {
    return this.permissions?.has(permission) ?? false;
  }

  get headers(): Readonly<Record<string, string>> {
    return this.proof;
  }

  async ask(method: string, path: string, body?: unknown): Promise<Reply> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...this.proof,
        origin: new URL(this.url).origin,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(method === 'PATCH' && path.endsWith('/settings') ? { 'if-match': '"1"' } : {}),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(20_000),
    });
    const text = await response.text();
    const json = (response.headers.get('content-type') ?? '').includes('json') && text !== '' ? safeJson(text) : text;
    return { status: response.status, json, text: text.replace(/"requestId":"[^"]*"/, '') };
  }
}

/** An export is lines of JSON, not one. */
function safeJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

export function user(url: string, cookie: string, { name, role }: SeededUser, member: boolean): Caller {
  return new Caller(
    member ? role : `stranger ${name}`,
    url,
    { cookie },
    member ? new Set<Permission>(ROLE_PERMISSIONS[role]) : null,
    'session',
  );
}

/** A key for each permission, each made by the owner: what it may is that one thing. */
export async function keysOfEachScope(url: string, orgId: string, owner: Caller): Promise<Caller[]> {
  const keys: Caller[] = [];
  for (const scope of PERMISSIONS) {
    const { status, json } = await owner.ask('POST', `/api/v1/orgs/${orgId}/api-keys`, {
      name: `only ${scope}`,
      scopes: [scope],
    });
    if (status !== 201) throw new Error(`a key for ${scope} was answered ${status}: ${JSON.stringify(json)}`);
    keys.push(
      new Caller(
        `key ${scope}`,
        url,
        { authorization: `Bearer ${(json as { token: string }).token}` },
        new Set([scope]),
        'api-key',
      ),
    );
  }
  return keys;
}
