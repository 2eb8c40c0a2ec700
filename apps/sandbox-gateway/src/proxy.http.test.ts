import { createHash, randomBytes } from 'node:crypto';
import { createConnection } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { THROUGH_GATEWAY_HEADER } from '@slipway/contracts/sandboxes';
import { until } from '@slipway/testing';
import type { WebSocket } from 'ws';
import { Flood, MB } from './testing/flood.js';
import { type Grant, PLATFORM, SESSION_KEY, TestGateway } from './testing/test-gateway.js';

describe('what goes through', () => {
  let gateway: TestGateway;
  let grant: Grant;
  let headers: Record<string, string>;
  beforeAll(async () => {
    gateway = await TestGateway.start();
    grant = await gateway.grant();
    headers = { host: grant.host, authorization: `Bearer ${grant.token}` };
  });
  afterAll(() => gateway?.close());
  const handle = (handler: TestGateway['upstream']['handler']): void => {
    gateway.upstream.handler = handler;
  };

  it('a large body arrives whole in both directions, whatever its framing', async () => {
    const body = randomBytes(12 * MB);
    const hash = createHash('sha256').update(body).digest('hex');
    for (const framing of ['length', 'chunked'] as const) {
      handle((request, response) => {
        response.writeHead(
          200,
          framing === 'length' ? { 'content-length': request.headers['content-length'] ?? '' } : {},
        );
        request.pipe(response);
      });
      const response = await gateway.request('/echo', {
        method: 'PUT',
        headers: { ...headers, ...(framing === 'length' ? { 'content-length': String(body.length) } : {}) },
        body: framing === 'length' ? body : Readable.from([body.subarray(0, 3 * MB), body.subarray(3 * MB)]),
      });
      const digest = createHash('sha256');
      for await (const part of response.body) digest.update(part as Buffer);
      expect(digest.digest('hex')).toBe(hash);
    }
  });

  it('a client that reads slowly slows the sandbox down, and no memory fills', async () => {
    const flood = new Flood(160);
    handle((_request, response) => flood.into(response));
    const before = process.memoryUsage().rss;
    const response = await gateway.request('/flood', { headers });
    await flood.standsStill();
    expect(flood.sent).toBeLessThan(80);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * MB);
    let received = 0;
    for await (const part of response.body) received += (part as Buffer).length;
    expect(received).toBe(160 * MB);
  });

  it('a sandbox that takes slowly slows the client down', async () => {
    let release: (() => void) | undefined;
    handle((request, response) => {
      release = () => void request.resume().once('end', () => response.end('taken'));
    });
    let made = 0;
    const source = Readable.from(
      (function* () {
        for (; made < 160; made += 1) yield Buffer.alloc(MB);
      })(),
      { objectMode: false },
    );
    const asked = gateway.request('/slow', { method: 'POST', headers, body: source });
    let last = -1;
    await until('the client waits', async () => {
      const still = made === last;
      last = made;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return still && made > 0;
    });
    expect(made).toBeLessThan(80);
    (await until('the sandbox has the request', () => release))();
    expect(await (await asked).body.text()).toBe('taken');
  });

  it('an event stream arrives event by event, its head before the first', async () => {
    let write = (_text: string): void => {};
    handle((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      write = (text) => void response.write(text);
    });
    const response = await gateway.request('/stream', { headers });
    expect(response.headers['content-type']).toBe('text/event-stream');
    const reader = response.body[Symbol.asyncIterator]();
    for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
      write(event);
      expect(String((await reader.next()).value)).toBe(event);
    }
    await response.body.destroy();
  });

  it('a client that goes away ends the work in the sandbox, and a sandbox that breaks off never makes half an answer pass for whole', async () => {
    let gone = false;
    handle((request, response) => {
      if (request.url === '/half') {
        response.writeHead(200, { 'content-type': 'text/plain' }).write('half');
        setTimeout(() => response.destroy(), 20);
      } else response.once('close', () => (gone = true));
    });
    const leaving = new AbortController();
    const asked = gateway.request('/long', { headers, signal: leaving.signal });
    await until('it is under way', () => gateway.upstream.seen.at(-1)?.url === '/long');
    leaving.abort();
    await expect(asked).rejects.toThrow();
    await until('the sandbox knows', () => gone);
    const half = await gateway.request('/half', { headers });
    await expect(half.body.text()).rejects.toThrow();
  });

  it('headers of one hop stay there, and a sandbox cannot speak for its neighbours or its host', async () => {
    handle(
      (_request, response) =>
        void response
          .writeHead(200, {
            'set-cookie': ['a=1; Domain=.gw.test; Secure', 'b=2;domain = gw.test; Path=/x'],
            'strict-transport-security': 'max-age=1; includeSubDomains',
            'alt-svc': 'h3=":443"',
            'clear-site-data': '"cookies"',
            'cache-control': 'public, max-age=60, s-maxage=600',
            'content-security-policy': "default-src 'self'",
            connection: 'keep-alive, x-hop',
            'x-hop': '1',
            'x-end': '2',
          })
          .end('ok'),
    );
    const given = await gateway.plain('/', {
      ...headers,
      connection: 'keep-alive, x-mine',
      'x-mine': '1',
      te: 'trailers',
      'proxy-authorization': 'x',
      'keep-alive': '1',
    });
    expect(given).toMatchObject({
      'set-cookie': ['a=1; Secure', 'b=2; Path=/x'],
      'cache-control': 'private, max-age=60',
      'content-security-policy': ["default-src 'self'", `frame-ancestors 'self' ${PLATFORM}`].join(', '),
      'x-end': '2',
    });
    for (const name of ['strict-transport-security', 'alt-svc', 'clear-site-data', 'x-hop'])
      expect(given[name]).toBeUndefined();
    const seen = gateway.upstream.seen.at(-1)?.headers ?? {};
    for (const name of ['x-mine', 'te', 'proxy-authorization', 'keep-alive']) expect(seen[name]).toBeUndefined();
    expect(seen).toMatchObject({ host: grant.host, 'x-forwarded-host': grant.host, 'x-forwarded-proto': 'http' });
  });

  it('sockets carry text and bytes both ways, by host and by path, and close with their codes', async () => {
    for (const open of [
      () => gateway.socket(grant.host, '/ws', headers),
      () =>
        gateway.socket('127.0.0.1', `/${grant.conversation}/8000/ws`, {
          authorization: headers['authorization'] as string,
        }),
    ]) {
      const socket = await open();
      const got: unknown[] = [];
      socket.on('message', (data: Buffer, binary) => got.push(binary ? data.length : data.toString()));
      socket.send('hello');
      socket.send(randomBytes(3 * MB));
      await until('the echo', () => got.length === 2);
      expect(got).toEqual(['hello', 3 * MB]);
      const closed = new Promise((resolve) => socket.once('close', resolve));
      for (const each of gateway.upstream.sockets) each.close(4321, 'bye');
      expect(await closed).toBe(4321);
    }
  });

  it('an OpenHands client opens its socket without a key and sends the token as its first frame', async () => {
    await gateway.pays(grant);
    const socket = await gateway.socket(grant.host, '/sockets/events/abc?resend_mode=all');
    const got: string[] = [];
    socket.on('message', (data: Buffer) => got.push(data.toString()));
    socket.send(JSON.stringify({ type: 'auth', session_api_key: grant.token }));
    for (let index = 0; index < 50; index += 1) socket.send(`frame ${index}`);
    await until('every frame came back', () => got.length === 50);
    expect(got).toEqual(Array.from({ length: 50 }, (_, index) => `frame ${index}`));
    expect(gateway.upstream.seen.at(-1)).toMatchObject({
      url: '/sockets/events/abc?resend_mode=all',
      headers: { 'x-session-api-key': SESSION_KEY, [THROUGH_GATEWAY_HEADER]: 'sandbox-gateway' },
    });
    for (const first of [
      '{"type":"auth","session_api_key":"wrong"}',
      '{"type":"message"}',
      'x'.repeat(100),
      `{"type":"auth","session_api_key":"${(await gateway.grant()).token}"}`,
    ]) {
      const refused: WebSocket = await gateway.socket(grant.host, '/sockets/events/abc');
      const closed = new Promise((resolve) => refused.once('close', resolve));
      refused.send(first);
      expect(await closed).toBe(4001);
    }
    // No frame is buffered before authentication.
    const flood: WebSocket = await gateway.socket(grant.host, '/sockets/events/abc');
    flood.on('error', () => {});
    const cut = new Promise((resolve) => flood.once('close', resolve));
    flood.send('x'.repeat(8 * MB));
    expect(await cut).toBe(1006);
    socket.close();
    await until('the sandbox’s end is closed too', () => gateway.upstream.sockets.size === 0);
  });

  it('a sandbox that answers an upgrade with something else has its answer passed on', async () => {
    await expect(gateway.socket(grant.host, '/no-socket', headers)).rejects.toThrow('418');
  });

  it('a sandbox that is not there says how it is, with the time to wait, and is never started', async () => {
    const states = [
      [{ status: 'paused' }, 503, 'sandbox.paused', '10'],
      [{ status: 'starting' }, 503, 'sandbox.starting', '2'],
      [{ status: 'stopped' }, 503, 'sandbox.not-running', '10'],
      [null, 503, 'sandbox.not-running', '10'],
      [{ status: 'error' }, 502, 'sandbox.unreachable', '2'],
      [{ url: 'http://127.0.0.1:9' }, 502, 'sandbox.unreachable', '1'],
      ['fail', 503, 'service.unavailable', '1'],
    ] as const;
    for (const [answer, status, code, retryAfter] of states) {
      gateway.runtimeApi.answer = () => answer;
      const other = await gateway.grant();
      const given = await gateway.ask(other);
      expect([
        given.status,
        JSON.parse(given.text).code,
        given.headers['retry-after'],
        given.headers['content-type'],
      ]).toEqual([status, code, retryAfter, 'application/problem+json']);
      await expect(gateway.socket(other.host, '/ws', { authorization: `Bearer ${other.token}` })).rejects.toThrow(
        String(status),
      );
      const page = await gateway.ask(other, '/', { authorization: `Bearer ${other.token}`, accept: 'text/html,*/*' });
      expect([page.status, page.headers['content-type'], page.text.includes(code)]).toEqual([
        status,
        'text/html; charset=utf-8',
        true,
      ]);
    }
    gateway.runtimeApi.answer = () => ({});
    expect(gateway.upstream.seen.some(({ url }) => url.includes('start'))).toBe(false);
  });

  it('a sandbox that pauses is known as such within a second, and one that moves is found at once when its address does not answer', async () => {
    handle((_request, response) => void response.end('ok'));
    const other = await gateway.grant();
    expect((await gateway.ask(other)).status).toBe(200);
    gateway.runtimeApi.answer = () => ({ status: 'paused' });
    await until('it is paused', async () => (await gateway.ask(other)).status === 503, 3_000);
    gateway.runtimeApi.answer = () => ({ url: 'http://127.0.0.1:9' });
    await until('it does not answer', async () => (await gateway.ask(other)).status === 502, 3_000);
    gateway.runtimeApi.answer = () => ({});
    expect((await gateway.ask(other)).status).toBe(200);
  });

  it('only agent-server is reached where sandboxes are processes of this machine', async () => {
    for (const port of [3000, 60_001]) {
      const other = await gateway.grant(port);
      expect(JSON.parse((await gateway.ask(other)).text).code).toBe('sandbox.port-closed');
    }
  });

  it('addresses that name no sandbox, closed ports and requests that no proxy should take are refused', async () => {
    const status = async (host: string, path = '/'): Promise<number> => {
      const response = await gateway.request(path, { headers: { ...headers, host } });
      await response.body.text();
      return response.statusCode;
    };
    for (const port of [8001, 80, 1023, 65_536])
      expect(await status(`${port}-${grant.conversation}.gw.test`)).toBe(403);
    for (const host of ['x.gw.test', `8000-${grant.conversation}.x.gw.test`, `-${grant.conversation}.gw.test`])
      expect(await status(host)).toBe(404);
    expect(await status('gw.test')).toBe(404);
    expect(await status('gw.test', '/alive')).toBe(200);
    const raw = (text: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const url = new URL(gateway.gateway.url);
        const socket = createConnection(Number(url.port), url.hostname, () => socket.write(text));
        let got = '';
        socket.on('data', (part: Buffer) => {
          got += part.toString();
        });
        socket.once('close', () => resolve(got.split('\r\n')[0] ?? ''));
        socket.once('error', reject);
      });
    const auth = `host: ${grant.host}\r\nauthorization: Bearer ${grant.token}\r\nconnection: close\r\n`;
    const before = gateway.upstream.seen.length;
    expect(await raw(`GET http://evil.test/ HTTP/1.1\r\n${auth}\r\n`)).toMatch(/ 400 /);
    // Smuggling: two framings, a framing that is none, a header that is two.
    expect(
      await raw(`POST / HTTP/1.1\r\n${auth}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`),
    ).toMatch(/ 400 /);
    expect(await raw(`POST / HTTP/1.1\r\n${auth}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n`)).toMatch(/ 400 /);
    expect(await raw(`GET / HTTP/1.1\r\n${auth}x: a\nauthorization: b\r\n\r\n`)).toMatch(/ 400 /);
    expect(gateway.upstream.seen.length).toBe(before);
  });
});
