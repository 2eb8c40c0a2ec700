import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, freePort, type TestDatabase } from '@slipway/testing';
import { startTestApp, type TestApp, testConfig } from '../../testing/test-app.js';
import { ReferenceModule } from './reference.module.js';

describe('the reference of the REST API', () => {
  let database: TestDatabase;
  let server: TestApp;
  beforeAll(async () => {
    database = await createTestDatabase();
    const issuer = { issuerUrl: 'http://127.0.0.1:9/realms/none', clientId: 'none', clientSecret: 'none' };
    server = await startTestApp(testConfig(await freePort(), database, issuer), { features: [ReferenceModule] });
  });
  afterAll(async () => {
    await server?.close();
    await database?.close();
  });

  it('is the document of this server, public, and cached', async () => {
    const response = await fetch(`${server.url}/api/v1/openapi.json`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(await response.json()).toMatchObject({
      openapi: '3.1.0',
      paths: { '/api/v1/orgs/{org}/audit': { get: { operationId: 'audit.list' } } },
    });
    const again = await fetch(`${server.url}/api/v1/openapi.json`, {
      headers: { 'if-none-match': response.headers.get('etag') ?? '' },
    });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const plain = await fetch(`${server.url}/api/v1/openapi.json`, { headers: { 'accept-encoding': 'identity' } });
    expect([plain.headers.get('content-encoding'), (await plain.text()).length > 100_000]).toEqual([null, true]);
  });

  it('is a page that loads nothing from elsewhere and allows no script in itself', async () => {
    const page = await fetch(`${server.url}/docs/api`);
    const html = await page.text();
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(/script-src ([^;]*)/.exec(policy)?.[1]).toBe("'self'");
    expect(html).not.toMatch(/<script>|https?:\/\/|\son\w+=/);
    const files = [...html.matchAll(/(?:src|href)="(\/docs[^"]+)"/g)].map(([, file]) => file ?? '');
    expect(files).toHaveLength(4);
    for (const file of files) {
      const answer = await fetch(`${server.url}${file}`, { headers: { 'accept-encoding': 'gzip, br' } });
      expect([file, answer.status, answer.headers.get('content-encoding')]).toEqual([file, 200, 'br']);
      expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(100);
    }
    for (const file of ['/docs/api/package.json', '/docs/api/..%2f..%2fpackage.json', '/docs/api/constructor'])
      expect([file, (await fetch(`${server.url}${file}`)).status]).toEqual([file, 404]);
  });
});
