import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { operations } from '@slipway/contracts/operations';
import { until } from '@slipway/testing';
import { io } from 'socket.io-client';
import { ConversationApp, type User } from '../testing/conversation-app.js';
import type { TestApp } from '../testing/test-app.js';
import { FORM_ROUTES } from './json-body.js';

/** What a browser may say of a page that is not ours, and what one says that says nothing. */
const FOREIGN: ReadonlyArray<(own: URL) => Record<string, string>> = [
  () => ({ origin: 'https://evil.example' }),
  () => ({ origin: 'null' }),
  () => ({ origin: '' }),
  (own) => ({ origin: `${own.origin}.evil.example` }),
  (own) => ({ origin: `https://${own.host}` }),
  (own) => ({ origin: `http://sandbox.${own.host}` }),
  (own) => ({ origin: `${own.protocol}//${own.hostname}:1` }),
  (own) => ({ origin: 'https://evil.example', 'sec-fetch-site': 'same-origin', host: own.host }),
  () => ({ 'sec-fetch-site': 'cross-site' }),
  () => ({ 'sec-fetch-site': 'same-site' }),
  () => ({ 'sec-fetch-site': 'none' }),
  () => ({}),
];
/** None, what a page can send without being asked first, and what it must ask for. */
const BODIES = [
  null,
  'application/json',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
] as const;
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Every route that the running server has, as its router prints them: `{method, path}`. */
function routesOf({ app }: TestApp): Array<{ method: string; path: string }> {
  const parts: string[] = [];
  return app
    .getHttpAdapter()
    .getInstance()
    .printRoutes()
    .split('\n')
    .flatMap((line: string) => {
      const found = /^([│ ]*)[├└]── (\S*) ?(?:\(([A-Z, ]+)\))?/u.exec(line);
      if (found === null) return [];
      const [, indent = '', part = '', methods = ''] = found;
      const depth = indent.length / 4;
      parts.splice(depth, parts.length, part);
      return methods
        .split(', ')
        .filter(Boolean)
        .map((method) => ({ method, path: parts.join('') }));
    });
}

describe('a page of another site, in the browser of a signed-in user', () => {
  let app: ConversationApp;
  let user: User;
  let conversation: string;
  let unsafe: Array<{ method: string; path: string }>;

  beforeAll(async () => {
    app = await ConversationApp.start();
    user = await app.user();
    conversation = (await app.conversation(user)).id;
    // Sandboxes by their token and providers by their signature: a browser has neither, and its cookie is ignored
    // there.
    unsafe = routesOf(app.replicas[0] as TestApp).filter(
      ({ method, path }) => !SAFE.has(method) && !path.startsWith('/ingest/') && !path.startsWith('/api/integration/'),
    );
  });
  afterAll(() => app?.close());

  const fill = (path: string): string =>
    path
      .replace(/[:{]org\}?/, user.orgId)
      .replace(/[:{]conversation\}?/, conversation)
      .replace(/[:{]\w+\}?/g, randomUUID());
  const rows = async (): Promise<unknown> =>
    (
      await app.owner.query(
        `SELECT (SELECT count(*) FROM app.conversation)::int AS conversations, (SELECT count(*) FROM app.inbox_message)::int AS messages,
           (SELECT count(*) FROM app.session)::int AS sessions, (SELECT count(*) FROM app.membership)::int AS members, (SELECT count(*) FROM app.org)::int AS orgs,
           (SELECT sum(settings_version) FROM app.user_account)::int AS settings, (SELECT count(*) FROM app.api_key)::int AS keys, (SELECT count(*) FROM app.invitation)::int AS invitations,
           (SELECT count(*) FROM app.audit_entry)::int AS audited, (SELECT array_agg(desired::text) FROM app.conversation) AS desired`,
      )
    ).rows[0];

  it('meets every unsafe operation of the contract among the routes that are tried', () => {
    const known = unsafe.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
    expect(known).toEqual(
      expect.arrayContaining(
        Object.values(operations)
          .filter(({ method }) => !SAFE.has(method))
          .map(({ method, path }) => `${method} ${path}`),
      ),
    );
    expect(known).toContain('POST /api/logout');
  });

  it('changes nothing by any unsafe route, whatever it sends and whatever the browser says of it', async () => {
    const before = await rows();
    for (const [index, { method, path }] of unsafe.entries()) {
      // Each thing that a browser says with each body over the routes; each of both at every route.
      const tried = [
        ...FOREIGN.map((foreign, at) => [foreign, BODIES[(at + index) % BODIES.length]] as const),
        ...BODIES.map((type, at) => [FOREIGN[(at + index) % FOREIGN.length], type] as const),
      ];
      await Promise.all(
        tried.map(async ([foreign = () => ({}), type = null]) => {
          const headers = foreign(new URL(app.url));
          const response = await fetch(`${app.url}${fill(path)}`, {
            method,
            headers: { ...headers, cookie: user.cookie, ...(type === null ? {} : { 'content-type': type }) },
            ...(type === null ? {} : { body: '{"prompt":"transfer","text":"transfer"}' }),
          });
          const { code } = (await response.json()) as { code: string };
          // A body that is not read is refused before its sender is checked.
          const read =
            type === null ||
            type === 'application/json' ||
            (type === 'application/x-www-form-urlencoded' && FORM_ROUTES.has(path));
          const refusal = read ? '403 request.cross-site' : '400 request.not-json';
          expect([method, path, type, headers, `${response.status} ${code}`]).toEqual([
            method,
            path,
            type,
            headers,
            refusal,
          ]);
        }),
      );
    }
    expect(await rows()).toEqual(before);
    expect((await app.http(user, 'GET', '/api/v1/me')).status).toBe(200);
  });

  it('changes nothing by a safe method that claims to be another one', async () => {
    const before = await rows();
    for (const { method, path } of unsafe)
      for (const query of ['', `?_method=${method}`]) {
        const response = await fetch(`${app.url}${fill(path)}${query}`, {
          headers: {
            cookie: user.cookie,
            'x-http-method-override': method,
            'x-http-method': method,
            'x-method-override': method,
          },
        });
        await response.body?.cancel();
      }
    expect(await rows()).toEqual(before);
  });

  it('our own page may do what it may not', async () => {
    for (const { method, path } of unsafe.filter(({ path }) => path !== '/api/logout')) {
      const answer = await app.http<{ code?: string }>(user, method, fill(path), method === 'DELETE' ? undefined : {});
      expect([method, path, answer.body.code]).not.toEqual([method, path, 'request.cross-site']);
    }
  });

  it('opens no socket with the cookie: neither a WebSocket nor by polling', async () => {
    const own = new URL(app.url);
    for (const headers of FOREIGN.map((foreign) => foreign(own)).filter(
      (each) => Object.keys(each).length > 0 && each['sec-fetch-site'] !== 'none',
    )) {
      const polling = await fetch(`${app.url}/socket.io/?EIO=4&transport=polling`, {
        headers: { ...headers, cookie: user.cookie },
      });
      expect([headers, polling.status, await polling.text()]).toEqual([
        headers,
        403,
        expect.not.stringContaining('sid'),
      ]);
      const socket = io(app.url, {
        transports: ['websocket'],
        reconnection: false,
        forceNew: true,
        extraHeaders: { ...headers, cookie: user.cookie },
      });
      const outcome = await new Promise<string>((resolve) => {
        socket.once('connect', () => resolve('connected'));
        socket.once('connect_error', () => resolve('refused'));
      });
      socket.close();
      expect([headers, outcome]).toEqual([headers, 'refused']);
    }
    const socket = io(app.url, {
      transports: ['websocket'],
      reconnection: false,
      forceNew: true,
      extraHeaders: { origin: own.origin, cookie: user.cookie },
    });
    await until('our own page has its socket', () => socket.connected);
    socket.close();
  });

  it('reads nothing: no answer lets another origin see it, with or without credentials', async () => {
    for (const method of ['GET', 'OPTIONS'])
      for (const path of ['/api/v1/me', app.path(user), '/api/authenticate', '/socket.io/?EIO=4&transport=polling']) {
        const response = await fetch(`${app.url}${path}`, {
          method,
          headers: { origin: 'https://evil.example', cookie: user.cookie, 'access-control-request-method': 'POST' },
        });
        await response.body?.cancel();
        expect([...response.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
      }
  });

  it('of a neighbouring host, which plants a session of its own beside ours, signs no user in as another', async () => {
    const attacker = await app.user('Mallory');
    const get = (cookie: string): Promise<Response> => fetch(`${app.url}/api/v1/me`, { headers: { cookie } });
    for (const cookie of [`${attacker.cookie}; ${user.cookie}`, `${user.cookie}; ${attacker.cookie}`])
      expect((await get(cookie)).status).toBe(401);
    expect((await get(`${user.cookie}; ${user.cookie}`)).status).toBe(200);
  });
});
