import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { OpenedCredential } from '@slipway/contracts/credentials';
import { until } from '@slipway/testing';
import { TestAuthority } from './testing/test-authority.js';
import { credential, LINE, type Origin, TestBroker } from './testing/test-broker.js';

const HOST = 'api.example.com';

describe('answers of a host', () => {
  let world: TestBroker;
  let origin: Origin;
  let token: OpenedCredential;
  beforeAll(async () => {
    world = await TestBroker.start();
    origin = await world.origin(HOST, (request, response) => {
      const { authorization = '' } = request.headers;
      const value = authorization.replace('Bearer ', '');
      const at = request.url ?? '';
      if (at === '/echo') response.setHeader('content-type', 'text/html').end(`<p>${authorization}</p>`);
      else if (at === '/error') response.writeHead(500, `Bad ${value}`, { 'X-Debug': authorization }).end('oops');
      else if (at === '/base64')
        response
          .setHeader('content-type', 'application/json')
          .end(`{"a":"${Buffer.from(`u:${value}`).toString('base64')}"}`);
      else if (at === '/gzip')
        response
          .writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' })
          .end(gzipSync(`it is ${value}.`));
      else if (at === '/secret-encoding')
        response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'x-own' }).end('x');
      else if (at === '/parts')
        response
          .writeHead(206, { 'content-type': 'text/plain', 'content-range': 'bytes 0-3/20' })
          .end(value.slice(0, 4));
      else if (at === '/redirect') response.writeHead(302, { location: 'https://evil.example/' }).end();
      else if (at === '/cookie')
        response.writeHead(200, { 'set-cookie': 'session=1', 'alt-svc': 'h3=":443"' }).end('x');
      else if (at === '/slow') {
        response.setHeader('content-type', 'text/event-stream').write('data: 1\n\n');
        for (const part of [value.slice(0, 5), value.slice(5, 12), `${value.slice(12)}\n\n`]) response.write(part);
        response.end();
      } else if (at === '/breaks') {
        response.writeHead(200, { 'content-length': 100 }).write('half');
        setImmediate(() => response.destroy());
      } else response.end('hello');
    });
  });
  beforeEach(async () => {
    token = credential({ form: 'bearer', places: [{ host: HOST, port: origin.port }] });
    world.control.reflected.length = 0;
    await world.give(token);
  });
  afterEach(() => {
    world.control.away = false;
  });
  afterAll(() => world?.close());
  const mask = () => `<secret:${token.name}>`;

  it.each(['/echo', '/base64', '/gzip', '/slow'])(
    '(B4) of %s have no value, and the credential rests',
    async (path) => {
      const answer = await world.ask({ host: HOST, path });
      expect(answer.status).toBe(200);
      expect(answer.text).toContain(mask());
      expect(answer.text).not.toContain(token.value);
      await until('app-server hears it', () => world.control.reflected.length === 1);
      expect(world.control.reflected).toEqual([
        { claim: LINE.claim, org: LINE.org, conversation: LINE.conversation, credential: token.id, host: HOST },
      ]);
      expect(await world.ask({ host: HOST })).toMatchObject({ status: 403, code: 'credential.resting' });
    },
  );

  it('(B4) have no value in their status line and headers', async () => {
    const answer = await world.ask({ host: HOST, path: '/error' });
    expect(answer).toMatchObject({ status: 500, text: 'oops', headers: { 'x-debug': `Bearer ${mask()}` } });
    await until('app-server hears it', () => world.control.reflected.length === 1);
  });

  it('(B4) that cannot be searched do not pass', async () => {
    for (const path of ['/parts', '/secret-encoding'])
      expect(await world.ask({ host: HOST, path })).toMatchObject({ status: 403, code: 'credential.unsupported' });
  });

  it('that repeat a value rest the credential although app-server is away, and it hears of it later', async () => {
    await world.ask({ host: HOST });
    world.control.away = true;
    await world.ask({ host: HOST, path: '/echo' });
    expect(await world.ask({ host: HOST })).toMatchObject({ code: 'credential.resting' });
    world.control.away = false;
    await until('app-server hears it', () => world.control.reflected.length === 1);
  });

  it('from a host whose credential rests by an admin’s leave are again those of one in use', async () => {
    await world.ask({ host: HOST, path: '/echo' });
    await until('app-server hears it', () => world.control.reflected.length === 1);
    world.control.resting = [token.name];
    await world.give();
    expect(await world.ask({ host: HOST })).toMatchObject({ code: 'credential.resting' });
    world.control.resting = [];
    await world.give(token);
    await until('it is used again', async () => (await world.ask({ host: HOST })).status === 200);
  });

  it('(B5) that redirect are passed on, and nothing is followed', async () => {
    const before = origin.seen.length;
    const answer = await world.ask({ host: HOST, path: '/redirect' });
    expect(answer).toMatchObject({ status: 302, headers: { location: 'https://evil.example/' } });
    expect(JSON.stringify(answer.headers)).not.toContain(token.value);
    expect(origin.seen.length).toBe(before + 1);
  });

  it('set no cookie and offer no other protocol', async () => {
    const { headers } = await world.ask({ host: HOST, path: '/cookie' });
    expect(headers).not.toHaveProperty('set-cookie');
    expect(headers).not.toHaveProperty('alt-svc');
  });

  it('that break off in the middle never look whole', async () => {
    await expect(world.ask({ host: HOST, path: '/breaks' })).rejects.toThrow(/aborted|hang up/);
  });

  it('(B6) with a certificate that is not valid are 502 in words, and nothing is sent', async () => {
    const stranger = await TestAuthority.make('Stranger');
    const yesterday = new Date(Date.now() - 86_400_000);
    for (const [name, certificate, words] of [
      ['unknown.example.com', await stranger.issue('unknown.example.com'), /unknown authority|UNABLE_TO/],
      ['expired.example.com', await world.roots.issue('expired.example.com', yesterday), /has expired/],
      ['other.example.com', await world.roots.issue('name.example.com'), /for another name/],
      [
        'self.example.com',
        { cert: stranger.cert, key: stranger.key },
        /signed by itself|unknown authority|not that of a server/,
      ],
    ] as const) {
      const host = await world.origin(name, (_request, response) => void response.end('x'), certificate);
      await world.give(credential({ form: 'bearer', places: [{ host: name, port: host.port }] }));
      const answer = await world.ask({ host: name });
      expect(answer).toMatchObject({ status: 502, code: 'credential.unreachable' });
      expect(answer.text).toMatch(words);
      expect(host.seen).toEqual([]);
    }
  });

  it('(B7) in plain http never see the credential', async () => {
    let bytes = '';
    const plain = createServer((_request, response) => void response.end('x'));
    plain.on('connection', (socket) => socket.on('data', (chunk: Buffer) => (bytes += chunk.toString('latin1'))));
    plain.listen(0, '127.0.0.1');
    await once(plain, 'listening');
    const { port } = plain.address() as AddressInfo;
    world.names.set('plain.example.com', ['127.0.0.1']);
    const given = credential({ form: 'bearer', places: [{ host: 'plain.example.com', port }] });
    await world.give(given);
    expect(
      await world.ask({ host: 'plain.example.com', line: { port }, headers: { host: `plain.example.com:${port}` } }),
    ).toMatchObject({
      status: 502,
      code: 'credential.unreachable',
    });
    expect(bytes).not.toContain(given.value);
    await new Promise((closed) => plain.close(closed));
  });

  it('from addresses inside, or from nowhere, are 502, and none is connected to', async () => {
    for (const [name, addresses] of [
      ['inside.example.com', ['10.0.0.1']],
      ['metadata.example.com', ['169.254.169.254']],
      ['nowhere.example.com', undefined],
    ] as const) {
      if (addresses !== undefined) world.names.set(name, addresses);
      await world.give(credential({ form: 'bearer', places: [{ host: name }] }));
      expect(await world.ask({ host: name })).toMatchObject({ status: 502, code: 'credential.unreachable' });
    }
  });
});
