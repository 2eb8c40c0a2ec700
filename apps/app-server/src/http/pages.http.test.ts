import { createServer, type Server } from 'node:http';
import { brotliCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, freePort, type TestDatabase } from '@slipway/testing';
import { startTestApp, type TestApp, testConfig } from '../testing/test-app.js';

const SCRIPT = 'console.log(1)';
const PACKED = brotliCompressSync(SCRIPT);

describe('pages', () => {
  let database: TestDatabase;
  let server: TestApp;
  let web: Server;
  let webPort: number;
  const seen: Array<{ url: string | undefined; cookie: string | undefined; policy: unknown; nonce: unknown }> = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    webPort = await freePort();
    web = createServer((request, response) => {
      const { cookie, 'content-security-policy': policy, 'x-nonce': nonce } = request.headers;
      seen.push({ url: request.url, cookie, policy, nonce });
      const [file = ''] = (request.url ?? '').split('?', 1);
      if (file === '/_next/static/packed.js.br')
        return response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(PACKED);
      const isMissing = file === '/missing' || file.endsWith('.br');
      response.writeHead(isMissing ? 404 : 200, { 'content-type': 'text/html' }).end('<h1>a page</h1>');
    });
    await new Promise<void>((resolve) => web.listen(webPort, '127.0.0.1', resolve));
    const identity = { issuerUrl: 'http://127.0.0.1:9/realms/slipway', clientId: 'slipway-web', clientSecret: 'x' };
    server = await startTestApp(
      testConfig(await freePort(), database, identity, { WEB_URL: `http://127.0.0.1:${webPort}` }),
      { features: [] },
    );
  });
  afterAll(async () => {
    await server?.close();
    web?.close();
    await database?.close();
  });

  it('come from the web process as they are, with our security headers and without the session cookie', async () => {
    const response = await fetch(`${server.url}/orgs/a/conversations/b?tab=diff`, {
      headers: { cookie: 'theme=dark; keycloak_auth=secret' },
    });
    expect([response.status, await response.text()]).toEqual([200, '<h1>a page</h1>']);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'self'");
    expect(seen.at(-1)).toMatchObject({ url: '/orgs/a/conversations/b?tab=diff', cookie: 'theme=dark' });
    expect((await fetch(`${server.url}/missing`)).status).toBe(404);
  });

  it('have scripts that were packed for browsers that take it, and else as they are', async () => {
    const get = async (path: string, encodings: string) => {
      const response = await fetch(server.url + path, {
        headers: { 'accept-encoding': encodings, cookie: 'keycloak_auth=secret' },
      });
      const { headers } = response;
      expect(seen.at(-1)?.cookie).toBe('');
      return [response.status, headers.get('content-encoding'), headers.get('content-type'), await response.text()];
    };
    const script = 'application/javascript; charset=UTF-8';
    for (const encodings of ['gzip, deflate, br', 'br;q=0.5'])
      expect(await get('/_next/static/packed.js?v=1', encodings)).toEqual([200, 'br', script, SCRIPT]);
    const plain = [200, null, 'text/html', '<h1>a page</h1>'];
    for (const encodings of ['gzip', 'br;q=0, gzip', 'brx'])
      expect(await get('/_next/static/packed.js', encodings)).toEqual(plain);
    // Of pages that were built without.
    expect(await get('/_next/static/other.css', 'br')).toEqual(plain);
    expect(await get('/_next/static/font.woff2', 'br')).toEqual(plain);
    expect(seen.at(-1)?.url).toBe('/_next/static/font.woff2');
  });

  it('have each a nonce of their own, that a caller cannot choose, and no other inline script may run', async () => {
    const policyOf = async (path: string): Promise<string> => {
      const chosen = { 'x-nonce': 'chosen', 'content-security-policy': "script-src 'nonce-chosen'" };
      return (await fetch(server.url + path, { headers: chosen })).headers.get('content-security-policy') ?? '';
    };
    const policies = [await policyOf('/login'), await policyOf('/login')];
    const nonces = policies.map((policy) => /script-src 'self' 'nonce-([\w+/]{22}==)';/.exec(policy)?.[1]);
    expect(new Set(nonces).size).toBe(2);
    expect(seen.slice(-2).map(({ nonce, policy }) => [nonce, policy])).toEqual(
      nonces.map((nonce, index) => [nonce, policies[index]]),
    );
    expect(policies.join()).not.toMatch(/script-src[^;]*unsafe-inline|chosen/);
    for (const path of ['/_next/static/x.js', '/api/v1/me', '/alive'])
      expect(await policyOf(path)).toContain("script-src 'self';");
  });

  it('lead a browser without a session to sign-in and back, and ask nothing of anybody else', async () => {
    const visit = async (path: string, headers: Record<string, string>) => {
      const response = await fetch(server.url + path, {
        headers: { 'sec-fetch-dest': 'document', ...headers },
        redirect: 'manual',
      });
      return response.headers.get('location') ?? response.status;
    };
    expect([await visit('/', {}), await visit('/acme/conversations/1?tab=diff', {})]).toEqual([
      '/login',
      '/login?redirect=%2Facme%2Fconversations%2F1%3Ftab%3Ddiff',
    ]);
    for (const path of ['/login?redirect=/', '/invite/abc', '/device?user_code=A', '/icon.svg'])
      expect([path, await visit(path, {})]).toEqual([path, 200]);
    expect(await visit('/', { cookie: '__Host-keycloak_auth=x' })).toBe(200);
    expect(await visit('/', { 'sec-fetch-dest': 'empty' })).toBe(200);
  });

  it('are never searched under the paths of the server itself', async () => {
    const before = seen.length;
    for (const path of ['/api', '/api/x', '/api?x', '/oauth/x', '/ingest/x', '/ingest', '/alive/x']) {
      const response = await fetch(`${server.url}${path}`);
      expect([path, response.status, ((await response.json()) as { code: string }).code]).toEqual([
        path,
        404,
        'resource.not-found',
      ]);
    }
    expect(seen.length).toBe(before);
  });

  it('say what is wrong when the web process is away, while the server goes on', async () => {
    web.closeAllConnections();
    await new Promise((resolve) => web.close(resolve));
    const response = await fetch(`${server.url}/`, { headers: { accept: 'text/html' } });
    expect([response.status, response.headers.get('content-type')]).toEqual([502, 'text/html; charset=utf-8']);
    expect(await response.text()).toContain('The pages do not answer');
    expect((await fetch(`${server.url}/ready`)).status).toBe(200);
  });
});
