import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { fields, id } from '../reading/fields.js';
import { ProviderClient } from './provider-client.js';
import { ProviderRefusal } from './provider-refusal.js';

const NOW = new Date('2026-11-23T10:00:00Z');
const later = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1000);

describe('a call to a provider', () => {
  let server: Server;
  let answer: RequestListener;
  let requests = 0;
  beforeAll(async () => {
    server = createServer((request, response) => {
      requests += 1;
      answer(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const client = (timeoutMs?: number): ProviderClient => {
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return new ProviderClient({
      baseUrl,
      authorization: 'Bearer secret',
      dispatch: fetch,
      now: () => NOW,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
  };
  const refused = async (method: 'GET' | 'POST', listener: RequestListener, timeoutMs?: number) => {
    answer = listener;
    const call = client(timeoutMs).call({
      method,
      path: '/x?token=1',
      ...(method === 'GET' ? {} : { body: {} }),
      answer: fields({ id }),
    });
    const error = await call.then(
      () => null,
      (reason: unknown) => reason,
    );
    if (!(error instanceof ProviderRefusal)) throw new Error(`no refusal: ${String(error)}`);
    return error;
  };
  const status =
    (code: number, headers: Record<string, string> = {}, body = '{}'): RequestListener =>
    (_request, response) => {
      response.writeHead(code, headers).end(body);
    };

  it('is given what it needs of the answer, and the credential is sent in a header alone', async () => {
    let seen: unknown;
    answer = (request, response) => {
      seen = [request.headers.authorization, request.url];
      response.end('{"id": 5, "more": true}');
    };
    expect((await client().call({ method: 'GET', path: '/x', answer: fields({ id }) })).body).toEqual({ id: '5' });
    expect(seen).toEqual(['Bearer secret', '/x']);
  });

  const LIMITS: readonly [string, number, Record<string, string>, string, Date | null][] = [
    ['429 with seconds', 429, { 'retry-after': '7' }, '', later(7)],
    ['429 with a date', 429, { 'retry-after': later(90).toUTCString() }, '', later(90)],
    ['429 without a word', 429, {}, '', later(60)],
    ['429 with nonsense', 429, { 'retry-after': 'soon' }, '', later(60)],
    ['a wait without end', 429, { 'retry-after': '999999999' }, '', later(86_400)],
    ['a moment that is over', 429, { 'retry-after': later(-90).toUTCString() }, '', NOW],
    [
      '403 of a spent window (GitHub)',
      403,
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(later(120).getTime() / 1000) },
      '',
      later(120),
    ],
    [
      '403 of the secondary limit (GitHub)',
      403,
      {},
      '{"message":"You have exceeded a secondary rate limit"}',
      later(60),
    ],
    [
      '429 of a spent window (GitLab)',
      429,
      { 'ratelimit-remaining': '0', 'ratelimit-reset': String(later(30).getTime() / 1000) },
      '',
      later(30),
    ],
  ];
  for (const [name, code, headers, body, retryAt] of LIMITS) {
    it(`is limited until the moment that the provider says: ${name}`, async () => {
      expect(await refused('POST', status(code, headers, body))).toMatchObject({
        kind: 'limited',
        retryAt,
        outcomeUnknown: false,
      });
    });
  }

  const KINDS = {
    400: 'invalid',
    401: 'credential',
    403: 'forbidden',
    404: 'missing',
    405: 'conflict',
    409: 'conflict',
    410: 'missing',
    422: 'invalid',
    302: 'unreadable',
  };
  it('is refused by kind, without a moment to try again', async () => {
    for (const [code, kind] of Object.entries(KINDS)) {
      const headers: Record<string, string> = code === '302' ? { location: 'http://169.254.169.254/' } : {};
      expect(await refused('POST', status(Number(code), headers))).toMatchObject({
        kind,
        status: Number(code),
        retryAt: null,
        outcomeUnknown: false,
      });
    }
  });

  it('may have had its effect when a provider broke, hung up or was too slow, unless it only asked', async () => {
    const hangsUp: RequestListener = (request) => request.socket.destroy();
    const sendsHalf: RequestListener = (request, response) => {
      response.writeHead(201, { 'content-length': '100' });
      response.write('{"id"', () => request.socket.destroy());
    };
    const never: RequestListener = () => {};
    for (const [listener, code, timeout] of [
      [status(502), 502, undefined],
      [hangsUp, null, undefined],
      [sendsHalf, null, undefined],
      [never, null, 50],
    ] as const) {
      expect(await refused('POST', listener, timeout)).toMatchObject({
        kind: 'unavailable',
        status: code,
        outcomeUnknown: true,
      });
      expect(await refused('GET', listener, timeout)).toMatchObject({
        kind: 'unavailable',
        status: code,
        outcomeUnknown: false,
      });
    }
    expect(await refused('POST', status(503, { 'retry-after': '5' }))).toMatchObject({
      kind: 'unavailable',
      retryAt: later(5),
    });
  });

  it('takes no answer that is endless, no JSON, or without what it needs', async () => {
    const endless: RequestListener = (_request, response) => {
      const more = (): void => {
        if (!response.destroyed && response.write(' '.repeat(1_000_000))) setImmediate(more);
        else response.once('drain', more);
      };
      more();
    };
    for (const listener of [endless, status(200, {}, '<html>'), status(200, {}, '{"ID": 1}'), status(200, {}, '')])
      expect(await refused('GET', listener)).toMatchObject({ kind: 'unreadable', status: 200 });
  });

  it('is sent once, and its refusal names neither the credential nor the query', async () => {
    const before = requests;
    const { message } = await refused('GET', status(500, {}, 'x'.repeat(5_000)));
    expect(requests - before).toBe(1);
    expect(message).not.toMatch(/secret|token=/);
    expect(message.length).toBeLessThan(400);
  });

  it('needs no answer where none is asked for', async () => {
    answer = status(204, {}, '');
    expect((await client().call({ method: 'POST', path: '/x', answer: z.unknown() })).body).toBe(undefined);
  });
});
