import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { credential, type Origin, TestBroker } from './testing/test-broker.js';

const HOST = 'api.example.com';

describe('requests of an attacker within a sandbox', () => {
  let world: TestBroker;
  let origin: Origin;
  beforeAll(async () => {
    world = await TestBroker.start();
    origin = await world.origin(HOST, (_request, response) => void response.end('hello'));
  });
  beforeEach(async () => {
    origin.seen.length = 0;
    await world.give(
      credential({
        form: 'bearer',
        places: [{ host: HOST, port: origin.port, methods: ['GET', 'POST'], paths: ['/v1/**', '/@scope%2fname'] }],
      }),
    );
  });
  afterAll(() => world?.close());

  it('(B3) that leave the path of a place by dots, escapes and slashes never reach the host', async () => {
    for (const path of [
      '/v1/../admin', '/v1/%2e%2e/admin', '/v1/.%2E/admin', '/v1/..;x/admin', '/v1/..%3bx/admin', '/v1//admin', '//v1/x', '/v1\\..\\admin',
      '/v1/%5c..%5cadmin', '/v1/..%2fadmin', '/v1/%252e%252e/admin', '/v1/\u00e4', '/v1/%00', '/v1/.',
    ]) // biome-ignore format: a list reads better in lines
      expect(await world.raw(HOST, get(path))).toMatch(/^HTTP\/1\.1 400 /);
    for (const path of ['/admin', '/V1/x', '/v1.', '/v1;x/y', '/v10', '/v1%2fadmin', '/@scope/name', '/'])
      expect(await world.ask({ host: HOST, path })).toMatchObject({ status: 403, code: 'credential.misplaced' });
    expect(origin.seen).toEqual([]);
    for (const path of ['/v1', '/v1/a%2Fb?x=../..', '/%761/x', '/@scope%2Fname'])
      expect((await world.ask({ host: HOST, path })).status).toBe(200);
    expect(origin.seen.map(({ url }) => url)).toEqual(['/v1', '/v1/a%2Fb?x=../..', '/%761/x', '/@scope%2Fname']);
  });

  it('(B4) by TRACE, TRACK, CONNECT or an unknown method are refused', async () => {
    for (const method of ['TRACE', 'PROPFIND'])
      expect(await world.ask({ host: HOST, method, path: '/v1/x' })).toMatchObject({
        status: 405,
        code: 'credential.method-refused',
      });
    expect(await world.raw(HOST, `TRACK /v1/x HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 40[05] /);
    expect(await world.raw(HOST, `CONNECT ${HOST}:443 HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 405 /);
    expect(await world.ask({ host: HOST, method: 'DELETE', path: '/v1/x' })).toMatchObject({
      status: 403,
      code: 'credential.misplaced',
    });
    for (const header of ['X-HTTP-Method-Override', 'X-Original-URL'])
      expect(await world.ask({ host: HOST, path: '/v1/x', headers: { [header]: 'DELETE' } })).toMatchObject({
        status: 403,
        code: 'credential.misplaced',
      });
    expect(origin.seen).toEqual([]);
  });

  it('(E12) for another host on the same connection are answered 421', async () => {
    for (const host of ['evil.example.com', `${HOST}:444`, `${HOST}.evil.example`, `u@${HOST}`, ''])
      expect(await world.raw(HOST, `${get('/v1/x').replace(/Host: [^\r]*/, `Host: ${host}`)}`)).toMatch(
        /^HTTP\/1\.1 4(21|00) /,
      );
    const twice = `GET /v1/x HTTP/1.1\r\nHost: ${HOST}:${origin.port}\r\nHost: evil.example\r\nConnection: close\r\n\r\n`;
    expect(await world.raw(HOST, twice)).toMatch(/^HTTP\/1\.1 4(21|00) /);
    expect(await world.raw(HOST, get(`https://${HOST}/v1/x`))).toMatch(/^HTTP\/1\.1 400 /);
    expect(origin.seen).toEqual([]);
  });

  it('(E12) that two servers would read in different ways end the connection, and no second request comes out of them', async () => {
    const head = `POST /v1/x HTTP/1.1\r\nHost: ${HOST}:${origin.port}\r\n`;
    const inner = `GET /admin HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`;
    const smuggled = [
      `${head}Content-Length: ${inner.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
      `${head}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${inner}`,
      `${head}Content-Length: 0\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
      `${head}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${inner}`,
      `${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${inner}`,
      `${head}X: a\r\n b\r\nContent-Length: 0\r\n\r\n${inner}`,
      `${head}Content-Length : 0\r\n\r\n${inner}`,
      `${head}Content-Length: +0\r\n\r\n${inner}`,
      `${head.replaceAll('\r\n', '\n')}\n${inner}`,
      `${head}X: a\rContent-Length: 0\r\n\r\n${inner}`,
      `${head}Transfer-Encoding: chunked\r\n\r\n0;\n\r\n\r\n${inner}`,
    ];
    for (const bytes of smuggled) {
      const answer = await world.raw(HOST, bytes);
      expect(answer.match(/HTTP\/1\.1 \d+/g)?.at(-1)).toBe('HTTP/1.1 400');
    }
    expect(origin.seen.filter(({ url }) => url === '/admin')).toEqual([]);
  });

  it('(E21) with a key of the attacker’s own are refused in words, and the host sees nothing', async () => {
    for (const headers of [
      { authorization: 'Bearer attacker' },
      { Authorization: `Basic ${Buffer.from('a:b').toString('base64')}` },
      { cookie: 'session=attacker' },
      { 'x-api-key': 'attacker' },
      { 'PRIVATE-TOKEN': 'attacker' },
      { 'x-amz-security-token': 'attacker' },
    ] as ReadonlyArray<Record<string, string>>) {
      const answer = await world.ask({ host: HOST, path: '/v1/x', headers });
      expect(answer).toMatchObject({ status: 403, code: 'credential.foreign' });
      expect(answer.text).not.toContain('attacker');
    }
    for (const query of [
      'access_token=x', 'a=b&api_key=x', 'private_token=x', 'key=x', 'sig=x', 'X-Amz-Signature=x', 'ACCESS_TOKEN=x', '%61ccess_token=x',
      'a=b;token=x', 'x-amz-credential=x',
    ]) // biome-ignore format: a list reads better in lines
      expect(await world.ask({ host: HOST, path: `/v1/x?${query}` })).toMatchObject({ code: 'credential.foreign' });
    expect(origin.seen).toEqual([]);
  });

  it('with a key of their own lose it where the place says drop, and keep it where it says allow', async () => {
    const place = { host: HOST, port: origin.port };
    const asked = {
      host: HOST,
      path: '/v1/x?a=b&access_token=attacker&c=d',
      headers: { authorization: 'Bearer attacker', cookie: 'a=b' },
    };
    const dropping = credential({ form: 'bearer', places: [{ ...place, foreign: 'drop' }] });
    await world.give(dropping);
    expect((await world.ask(asked)).status).toBe(200);
    expect(origin.seen.at(-1)).toMatchObject({
      url: '/v1/x?a=b&c=d',
      headers: { authorization: `Bearer ${dropping.value}` },
    });
    expect(origin.seen.at(-1)?.headers.cookie).toBeUndefined();
    await world.give(credential({ form: 'bearer', places: [{ ...place, foreign: 'allow' }] }));
    expect((await world.ask(asked)).status).toBe(200);
    expect(origin.seen.at(-1)).toMatchObject({ url: asked.path, headers: asked.headers });
  });

  it('cannot make the broker leave its credential out by naming it in Connection', async () => {
    const headers = { connection: 'close, authorization, x-dropped', 'x-dropped': '1', 'proxy-authorization': 'x' };
    expect((await world.ask({ host: HOST, path: '/v1/x', headers })).status).toBe(200);
    expect(origin.seen.at(-1)?.headers).toMatchObject({ authorization: expect.stringMatching(/^Bearer s3cret/) });
    expect(origin.seen.at(-1)?.headers).not.toHaveProperty('x-dropped');
    expect(origin.seen.at(-1)?.headers).not.toHaveProperty('proxy-authorization');
  });

  it('for a WebSocket are refused in words', async () => {
    const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': 'x' };
    expect(await world.ask({ host: HOST, path: '/v1/x', headers })).toMatchObject({
      status: 403,
      code: 'credential.unsupported',
    });
    expect(origin.seen).toEqual([]);
  });

  it('for a host without a credential of this conversation are refused', async () => {
    await world.give();
    expect(await world.ask({ host: HOST, path: '/v1/x' })).toMatchObject({
      status: 403,
      code: 'credential.misplaced',
    });
    expect(origin.connections()).toBeLessThan(50);
  });

  it('that end in the middle of a body leave no request that looks whole', async () => {
    const socket = await world.secure({ host: HOST });
    socket.write(`POST /v1/x HTTP/1.1\r\nHost: ${HOST}:${origin.port}\r\nContent-Length: 100\r\n\r\nhalf`);
    await once(socket, 'data');
    socket.destroy();
    await world.ask({ host: HOST, path: '/v1/next' });
    expect(origin.seen.map(({ url }) => url)).toEqual(['/v1/x', '/v1/next']);
  });

  const get = (path: string): string =>
    `GET ${path} HTTP/1.1\r\nHost: ${HOST}:${origin.port}\r\nConnection: close\r\n\r\n`;
});
