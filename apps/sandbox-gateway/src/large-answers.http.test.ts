import { createHash, randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { Client, type Dispatcher } from 'undici';
import { PASSAGE_FROM } from './proxy/passage.js';
import { Flood, MB } from './testing/flood.js';
import { type Grant, TestGateway } from './testing/test-gateway.js';

const hash = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

describe('a large answer that says its length', () => {
  let gateway: TestGateway;
  let grant: Grant;
  let headers: Record<string, string>;
  beforeAll(async () => {
    gateway = await TestGateway.start();
    grant = await gateway.grant();
    headers = { host: grant.host, authorization: `Bearer ${grant.token}` };
  });
  afterAll(() => gateway?.close());
  const answers = (length: number, send: (response: ServerResponse) => void): void => {
    gateway.upstream.handler = (_request, response) => send(response.writeHead(200, { 'content-length': length }));
  };
  const get = (path = '/'): Promise<Dispatcher.ResponseData> => gateway.request(path, { headers });

  it('arrives whole at any length, however it is cut into pieces, and the connection of the client goes on', async () => {
    const client = new Client(gateway.gateway.url);
    try {
      for (const length of [PASSAGE_FROM - 1, PASSAGE_FROM, PASSAGE_FROM + 1, 5 * MB + 7]) {
        const body = randomBytes(length);
        for (const piece of [length, 100_003, MB]) {
          answers(length, (response) => {
            for (let at = 0; at < length; at += piece) response.write(body.subarray(at, at + piece));
            response.end();
          });
          const response = await client.request({ path: '/', method: 'GET', headers });
          expect(response.headers['content-length']).toBe(String(length));
          expect(hash(Buffer.from(await response.body.arrayBuffer()))).toBe(hash(body));
          gateway.upstream.handler = (_request, small) => void small.end('small');
          expect(await (await client.request({ path: '/', method: 'GET', headers })).body.text()).toBe('small');
        }
      }
    } finally {
      await client.close();
    }
  });

  it('comes beside others without a byte of one in another', async () => {
    gateway.upstream.handler = (request, response) => {
      const body = Buffer.alloc(3 * MB, String(request.url).slice(1));
      response.writeHead(200, { 'content-length': body.length }).end(body);
    };
    const names = Array.from({ length: 12 }, (_, index) => `answer-${index};`);
    const bodies = await Promise.all(
      names.map(async (name) => Buffer.from(await (await get(`/${name}`)).body.arrayBuffer())),
    );
    expect(bodies.map(hash)).toEqual(names.map((name) => hash(Buffer.alloc(3 * MB, name))));
  });

  it('comes no faster than the client reads, and no memory fills', async () => {
    const flood = new Flood(160);
    answers(160 * MB, flood.into);
    const rss = process.memoryUsage().rss;
    const response = await get();
    await flood.standsStill();
    expect(flood.sent).toBeLessThan(80);
    expect(process.memoryUsage().rss - rss).toBeLessThan(150 * MB);
    let received = 0;
    for await (const part of response.body) received += (part as Buffer).length;
    expect(received).toBe(160 * MB);
  });

  it('never passes for whole when the sandbox breaks off or falls silent in the middle', async () => {
    for (const end of [
      (response: ServerResponse) => response.destroy(),
      (response: ServerResponse) => response.socket?.end(),
    ]) {
      answers(4 * MB, (response) => response.write(Buffer.alloc(2 * MB), () => end(response)));
      await expect((await get()).body.arrayBuffer()).rejects.toThrow();
    }
    // A gateway of its own: the other answers may take longer than this silence on a busy machine.
    const impatient = await TestGateway.start({ SANDBOX_GATEWAY_SILENCE_SECONDS: '1' });
    try {
      impatient.upstream.handler = (_request, response) =>
        void response.writeHead(200, { 'content-length': 4 * MB }).write(Buffer.alloc(2 * MB));
      const { host, token } = await impatient.grant();
      const half = await impatient.request('/', { headers: { host, authorization: `Bearer ${token}` } });
      await expect(half.body.arrayBuffer()).rejects.toThrow();
    } finally {
      await impatient.close();
    }
  });

  it('ends where it said it would, and what the sandbox sends beyond that is dropped', async () => {
    answers(2 * MB, (response) => {
      response.write(Buffer.alloc(2 * MB, 'a'));
      response.socket?.write('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged');
    });
    expect(hash(Buffer.from(await (await get()).body.arrayBuffer()))).toBe(hash(Buffer.alloc(2 * MB, 'a')));
    gateway.upstream.handler = (_request, response) => void response.end('true');
    expect(await (await get()).body.text()).toBe('true');
  });

  it('has no body where there is none: HEAD and 304', async () => {
    answers(4 * MB, (response) => response.end());
    const head = await gateway.request('/', { method: 'HEAD', headers });
    expect([head.headers['content-length'], await head.body.text()]).toEqual([String(4 * MB), '']);
    gateway.upstream.handler = (_request, response) => void response.writeHead(304, { 'content-length': 4 * MB }).end();
    const unchanged = await get();
    expect([unchanged.statusCode, await unchanged.body.text()]).toEqual([304, '']);
  });

  it('ends in the sandbox when the client leaves, and for the client when its access is revoked', async () => {
    let gone = 0;
    const flood = (response: ServerResponse): void => {
      response.once('close', () => {
        gone += 1;
      });
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(MB)));
        response.once('drain', more);
      };
      more();
    };
    answers(4_000 * MB, flood);
    const leaving = await get();
    await leaving.body.destroy();
    await until('the sandbox knows', () => gone === 1);
    const other = await gateway.grant();
    const revoked = await gateway.request('/', {
      headers: { host: other.host, authorization: `Bearer ${other.token}` },
    });
    const reading = revoked.body.arrayBuffer();
    await gateway.revoke(other);
    await expect(reading).rejects.toThrow();
    await until('the sandbox knows that too', () => gone === 2);
  });
});
