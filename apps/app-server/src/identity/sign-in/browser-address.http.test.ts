import { get } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, freePort, SigningIssuer, type TestDatabase } from '@slipway/testing';
import pg from 'pg';
import { DomainsModule } from '../../organizations/domains/domains.module.js';
import { startTestApp, type TestApp, testConfig } from '../../testing/test-app.js';
import { MeModule } from '../me/me.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { SignInModule } from './sign-in.module.js';

const FEATURES = [SignInModule, DomainsModule.register(), MeModule, SessionsModule];

interface Got {
  readonly status: number;
  readonly location: string;
  readonly cookies: string[];
}

describe('who a browser is behind proxies and over https', () => {
  let database: TestDatabase;
  let issuer: SigningIssuer;
  let owner: pg.Client;
  const servers: TestApp[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    issuer = await SigningIssuer.start();
    owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
  });
  afterAll(async () => {
    for (const server of servers) await server.close();
    await owner?.end();
    await issuer?.close();
    await database?.close();
  });

  async function start(env: Readonly<Record<string, string>>): Promise<string> {
    const port = await freePort();
    servers.push(
      await startTestApp(testConfig(port, database, issuer, { HOST: '127.0.0.1', ...env }), { features: FEATURES }),
    );
    return `http://127.0.0.1:${port}`;
  }
  /** @param from address of this machine that it comes from. */
  const ask = (url: string, headers: Readonly<Record<string, string>>, from = '127.0.0.1'): Promise<Got> =>
    new Promise((resolve, reject) => {
      get(url, { headers, localAddress: from }, (response) => {
        response.resume();
        resolve({
          status: response.statusCode ?? 0,
          location: response.headers.location ?? '',
          cookies: response.headers['set-cookie'] ?? [],
        });
      }).once('error', reject);
    });
  /** A sign-in on this server, whatever its public address is. @returns what the callback answered. */
  async function signIn(url: string, headers: Readonly<Record<string, string>>, from?: string): Promise<Got> {
    const began = await ask(`${url}/oauth/login`, headers, from);
    const back = new URL((await ask(began.location, {})).location);
    return ask(
      `${url}${back.pathname}${back.search}`,
      { ...headers, cookie: (began.cookies[0] ?? '').split(';')[0] ?? '' },
      from,
    );
  }
  const addresses = async (): Promise<unknown> => {
    const { rows } = await owner.query(
      `SELECT s.address AS session, (SELECT e.address FROM app.audit_entry e WHERE e.action = 'session.start' AND e.target = s.id) AS audit FROM app.session s ORDER BY created_at DESC LIMIT 1`,
    );
    return rows[0];
  };

  it('a proxy that is trusted says where a browser is; anybody else, whatever they say, is where they connect from', async () => {
    const forwarded = { 'x-forwarded-for': '203.0.113.9' };
    const open = await start({ TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8' });
    const closed = await start({});
    for (const [url, headers, from, address] of [
      [open, forwarded, '127.0.0.1', '203.0.113.9'],
      // The nearest that is no proxy of ours; what stands before it anybody may have written.
      [open, { 'x-forwarded-for': '198.51.100.66, 203.0.113.9, 10.1.2.3' }, '127.0.0.1', '203.0.113.9'],
      [open, forwarded, '127.0.0.2', '127.0.0.2'],
      [open, {}, '127.0.0.1', '127.0.0.1'],
      [closed, forwarded, '127.0.0.1', '127.0.0.1'],
      [closed, { ...forwarded, forwarded: 'for=203.0.113.9', 'x-real-ip': '203.0.113.9' }, '127.0.0.2', '127.0.0.2'],
    ] as const) {
      expect((await signIn(url, headers, from)).status).toBe(302);
      expect([headers, from, await addresses()]).toEqual([headers, from, { session: address, audit: address }]);
    }
  });

  it('over https the session is in a cookie that is taken from this host alone, encrypted, for every path; and one of the plain name is none', async () => {
    const url = await start({ PUBLIC_URL: 'https://slipway.example' });
    const { status, location, cookies } = await signIn(url, {});
    const line = cookies.find((cookie) => cookie.includes('keycloak_auth')) ?? '';
    expect([status, location]).toEqual([302, 'https://slipway.example/']);
    expect(line).toMatch(
      /^__Host-keycloak_auth=[\w-]+\.[\w-]+\.[\w-]+; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
    const token = line.slice(line.indexOf('=') + 1, line.indexOf(';'));
    const me = async (cookie: string, headers: Readonly<Record<string, string>> = {}): Promise<number> =>
      (await ask(`${url}/api/v1/me`, { cookie, ...headers })).status;
    expect(await me(`__Host-keycloak_auth=${token}`)).toBe(200);
    expect(await me(`keycloak_auth=${token}`)).toBe(401);
    // A neighbouring host can plant a cookie of the plain name, and it changes nothing.
    expect(await me(`keycloak_auth=planted; __Host-keycloak_auth=${token}`)).toBe(200);
    const foreign = await fetch(`${url}/api/v1/me/sessions/end-all`, {
      method: 'POST',
      headers: { cookie: `__Host-keycloak_auth=${token}`, origin: 'https://evil.example' },
    });
    expect([foreign.status, await foreign.json()]).toMatchObject([403, { code: 'request.cross-site' }]);
    const out = await fetch(`${url}/api/logout`, {
      method: 'POST',
      headers: { cookie: `__Host-keycloak_auth=${token}`, origin: 'https://slipway.example' },
    });
    expect(out.headers.getSetCookie()[0]).toMatch(/^__Host-keycloak_auth=; Max-Age=0; Path=\/; .*Secure$/);
    expect(await me(`__Host-keycloak_auth=${token}`)).toBe(401);
  });
});
