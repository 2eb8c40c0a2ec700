import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Conversation } from '@slipway/contracts/conversations';
import { DEMO_MODEL } from '@slipway/contracts/models';
import { migrateQueue } from '@slipway/queue/migrate';
import {
  CookieClient,
  createTestDatabase,
  freePort,
  type IdentityServer,
  type SignedInClient,
  signIn,
  startIdentityServer,
  stopwatch,
  submitForm,
  type TestDatabase,
  until,
} from '@slipway/testing';
import { io, type Socket } from 'socket.io-client';
import { startTestApp, type TestApp, testConfig } from '../../testing/test-app.js';

/** What has led browsers to another host somewhere. `HOST` stands for ours. */
const REDIRECTS = [
  'https://evil.example',
  '//evil.example',
  '///evil.example',
  '////evil.example/%2e%2e',
  '/\\evil.example',
  '\\\\evil.example',
  '\\/evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  '/\r\n/evil.example',
  '/%09/evil.example',
  '/%5cevil.example',
  '/%2f%2fevil.example',
  '/.//evil.example',
  '/..//evil.example',
  '/a/..//evil.example',
  '/;@evil.example',
  '/@evil.example',
  '@evil.example',
  '.evil.example',
  ':80@evil.example',
  'http:evil.example',
  'http:/evil.example',
  'https:evil.example',
  'http://HOST@evil.example',
  'http://HOST.evil.example',
  'http://evil.example#HOST',
  'http://evil.example?http://HOST',
  'javascript:alert(1)',
  'java\nscript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  ' //evil.example',
  '\u0000//evil.example',
  '/\u3000/evil.example',
  '/\uff0fevil.example',
  '//evil\u3002example',
  '//[::ffff:a00:1]',
  '/x\r\nlocation: https://evil.example',
  '/x\r\nset-cookie: keycloak_auth=planted',
];
/** Names under which such a place is given elsewhere. */
const PARAMETERS = ['invitation', 'returnTo', 'return_to', 'next', 'redirect_uri', 'url', 'continue'];
/**
 * Within this a session that has ended is dead everywhere. Milliseconds; both checks of a second, and two seconds for a
 * busy machine.
 */
const DEAD_MS = 4_000;

jest.setTimeout(300_000);

describe('attacks on the sign-in', () => {
  let database: TestDatabase;
  let identity: IdentityServer;
  /** Two replicas of one address, as behind a load balancer. */
  let servers: [TestApp, TestApp];
  let url: string;
  let gateway: Server;

  beforeAll(async () => {
    const models = {
      object: 'list',
      data: [{ id: DEMO_MODEL, object: 'model', created: 0, owned_by: 'slipway', demo: true, default: true }],
    };
    gateway = createServer(
      (_request, response) => void response.setHeader('content-type', 'application/json').end(JSON.stringify(models)),
    );
    await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
    const env = { LLM_GATEWAY_URL: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}` };
    database = await createTestDatabase({
      extra: { name: 'queue', prepare: (ownerUrl) => migrateQueue(ownerUrl, 'slipway_app') },
    });
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    identity = await startIdentityServer(url);
    const other = await freePort();
    servers = [
      await startTestApp(testConfig(port, database, identity, env)),
      {
        ...(await startTestApp({ ...testConfig(port, database, identity, env), PORT: other })),
        url: `http://127.0.0.1:${other}`,
      },
    ];
  });
  afterAll(async () => {
    for (const server of servers ?? []) await server.close();
    gateway?.closeAllConnections();
    gateway?.close();
    await identity?.close();
    await database?.close();
  });

  /** A sign-in as far as the issuer's answer: the address that would end it, not yet opened. */
  async function begun(browser: CookieClient): Promise<URL> {
    const page = await browser.follow(`${url}/oauth/login`);
    const action = new URL(/action="([^"]+)"/.exec(await page.response.text())?.[1] ?? '', page.url);
    let response = await browser.send(action, {
      method: 'POST',
      body: new URLSearchParams({ username: 'demo', password: 'demo' }),
    });
    while (!(response.headers.get('location') ?? '').startsWith(`${url}/oauth/keycloak/callback`))
      response = await browser.send(new URL(response.headers.get('location') ?? '', action));
    return new URL(response.headers.get('location') as string);
  }
  const cookies = (browser: CookieClient): Map<string, string> =>
    new Map(
      browser
        .cookieHeader(new URL('/oauth/keycloak/callback', url))
        .split('; ')
        .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)] as const),
    );
  const answerTo = async (callback: URL, cookie: string): Promise<{ status: number; sessions: string[] }> => {
    const response = await fetch(callback, { redirect: 'manual', headers: { cookie } });
    await response.body?.cancel();
    return {
      status: response.status,
      sessions: response.headers.getSetCookie().filter((line) => line.startsWith('keycloak_auth=')),
    };
  };

  it('a session that was planted before the sign-in is not the one after it, and is worth nothing then', async () => {
    const attacker = await signIn(url);
    const planted = attacker.cookie.slice(attacker.cookie.indexOf('=') + 1);
    const victim = new CookieClient();
    const callback = await begun(victim);
    const own = [...cookies(victim)].map(([name, value]) => `${name}=${value}`).join('; ');
    for (const value of ['made-up', 'a.b.c', planted]) {
      const { status, sessions } = await answerTo(callback, `${own}; keycloak_auth=${value}`);
      if (value === 'made-up') expect([status, sessions.length, sessions[0]?.includes(value)]).toEqual([302, 1, false]);
      // The code was used by the first of them.
      else expect([status, sessions]).toEqual([400, []]);
    }
    const afresh = new CookieClient();
    const again = await begun(afresh);
    const transaction = [...cookies(afresh)].map(([name, value]) => `${name}=${value}`).join('; ');
    const { sessions } = await answerTo(again, `${transaction}; keycloak_auth=${planted}`);
    expect(sessions).toHaveLength(1);
    expect(sessions[0]).not.toContain(planted);
    expect((await attacker.fetch('/api/v1/me')).status).toBe(401);
  });

  it('no callback makes a session but the one that this browser began: not with another code, state, nonce or verifier', async () => {
    const [victim, attacker] = [new CookieClient(), new CookieClient()];
    const [mine, theirs] = [await begun(victim), await begun(attacker)];
    const [[name = '', sealed = ''] = []] = [...cookies(victim)];
    const [[otherName = '', otherSealed = ''] = []] = [...cookies(attacker)];
    const change = (from: URL, values: Record<string, string | null>): URL => {
      const changed = new URL(from);
      for (const [key, value] of Object.entries(values)) {
        if (value === null) changed.searchParams.delete(key);
        else changed.searchParams.set(key, value);
      }
      return changed;
    };
    const code = theirs.searchParams.get('code') as string;
    const state = theirs.searchParams.get('state') as string;
    const attacks: ReadonlyArray<readonly [string, URL, string]> = [
      ['the attacker’s link in the victim’s browser', theirs, `${name}=${sealed}`],
      ['the attacker’s code under the victim’s state: PKCE and nonce', change(mine, { code }), `${name}=${sealed}`],
      ['the victim’s code under the attacker’s state', change(mine, { state }), `${otherName}=${otherSealed}`],
      ['the victim’s transaction under the attacker’s name', theirs, `${otherName}=${sealed}`],
      ['the attacker’s transaction under the victim’s name', mine, `${name}=${otherSealed}`],
      ['two transactions of one name', mine, `${name}=${otherSealed}; ${name}=${sealed}`],
      ['no state', change(mine, { state: null }), `${name}=${sealed}`],
      ['no code', change(mine, { code: null }), `${name}=${sealed}`],
      ['two states', new URL(`${mine.href}&state=${state}`), `${name}=${sealed}`],
      ['another issuer', change(mine, { iss: 'https://evil.example' }), `${name}=${sealed}`],
      ['a transaction that was changed', mine, `${name}=${sealed.slice(0, -4)}AAAA`],
      [
        'a token instead of a code',
        change(mine, { code: null, id_token: 'a.b.c', access_token: 'x' }),
        `${name}=${sealed}`,
      ],
    ];
    for (const [what, callback, cookie] of attacks)
      expect([what, await answerTo(callback, cookie)]).toEqual([what, { status: 400, sessions: [] }]);
    const { status, sessions } = await answerTo(theirs, `${otherName}=${otherSealed}`);
    expect([status, sessions.length]).toEqual([302, 1]);
  });

  it('never redirects to another host, whatever the parameters', async () => {
    const { host } = new URL(url);
    const browser = new CookieClient();
    await signIn(url, undefined, browser);
    for (const [index, payload] of REDIRECTS.entries()) {
      const place = payload.replaceAll('HOST', host);
      for (const parameter of ['redirect', ...PARAMETERS.slice(index, index + 1)]) {
        // The issuer still knows the user: no form comes in between.
        const { url: reached, response } = await browser.follow(
          `${url}/oauth/login?${parameter}=${encodeURIComponent(place)}`,
        );
        await response.body?.cancel();
        expect([place, reached.origin]).toEqual([place, url]);
      }
      // The same as a path of its own, and at the issuer's end of a session.
      const raw = place.replaceAll(/[^!-~]/gu, (character) => encodeURIComponent(character));
      if (raw.startsWith('/')) {
        const direct = await fetch(`${url}${raw}`, { redirect: 'manual' });
        await direct.body?.cancel();
        expect([raw, direct.headers.get('location')]).toEqual([raw, null]);
      }
      const out = await fetch(
        `${identity.issuerUrl}/protocol/openid-connect/logout?post_logout_redirect_uri=${encodeURIComponent(place)}&client_id=slipway-web`,
        {
          redirect: 'manual',
        },
      );
      await out.body?.cancel();
      expect([place, out.headers.get('location') ?? '']).toEqual([place, expect.not.stringContaining('evil')]);
    }
    const arrays = await browser.follow(`${url}/oauth/login?redirect=/api/v1/me&redirect=//evil.example`);
    expect(arrays.url.origin).toBe(url);
  });

  it('the cookie of a sign-in over https is taken from this host only', async () => {
    const port = await freePort();
    const secure = await startTestApp({
      ...testConfig(port, database, identity),
      PUBLIC_URL: 'https://slipway.example',
    });
    try {
      const response = await fetch(`http://127.0.0.1:${port}/oauth/login`, { redirect: 'manual' });
      const [line = ''] = response.headers.getSetCookie();
      expect(line).toMatch(
        /^__Host-slipway_sign_in_[\w-]+=[\w-]+; Path=\/; Max-Age=1800; HttpOnly; SameSite=Lax; Secure$/,
      );
    } finally {
      await secure.close();
    }
  });

  it('signing out ends the session everywhere: requests, sockets and streams of every replica, those too that read nothing', async () => {
    const browser = new CookieClient();
    const user: SignedInClient = await signIn(url, undefined, browser);
    const orgId = user.me.orgs[0]?.id ?? '';
    const { id } = (await (
      await user.fetch(`/api/v1/orgs/${orgId}/conversations`, { method: 'POST', json: { prompt: 'x' } })
    ).json()) as Conversation;
    const sockets: Socket[] = [];
    const streams: Array<Promise<string>> = [];
    const connect = (server: TestApp): Socket => {
      const socket = io(server.url, {
        transports: ['websocket'],
        reconnection: false,
        forceNew: true,
        extraHeaders: { cookie: user.cookie, origin: url },
      });
      sockets.push(socket);
      return socket;
    };
    try {
      for (const server of servers) {
        const reading = connect(server);
        expect(
          await reading.timeout(20_000).emitWithAck('subscribe', { orgId, conversationId: id, afterSeq: 0 }),
        ).toMatchObject({ ok: true });
        const idle = connect(server);
        await until('the idle one is there', () => idle.connected);
        const stream = await fetch(`${server.url}/api/v1/orgs/${orgId}/conversations/${id}/events`, {
          headers: { cookie: user.cookie, accept: 'text/event-stream' },
        });
        expect(stream.status).toBe(200);
        streams.push(stream.text());
      }
      const passed = stopwatch();
      expect((await user.fetch('/api/logout', { method: 'POST' })).status).toBe(200);
      await until('every socket is closed', () => sockets.every((socket) => !socket.connected), DEAD_MS);
      await Promise.all(streams);
      expect(passed()).toBeLessThan(DEAD_MS);
      expect((await user.fetch('/api/v1/me')).status).toBe(401);
      for (const server of servers) {
        await until(
          'a request is refused',
          async () => (await fetch(`${server.url}/api/v1/me`, { headers: { cookie: user.cookie } })).status === 401,
          DEAD_MS,
        );
        const late = connect(server);
        await new Promise((resolve) => late.once('connect_error', resolve));
        expect(late.connected).toBe(false);
      }
      // With the issuer the user is still signed in, until the browser has been where the answer leads it.
      await submitForm(browser, await browser.follow(`${identity.issuerUrl}/protocol/openid-connect/logout`), {});
    } finally {
      for (const socket of sockets) socket.close();
    }
  });
});
