import type { Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { type ApiServer, openApiServer } from './open-api-server.ts';
import { openSocket, type RawAnswer, sendRaw } from './raw-request.ts';

/** What all of this may leave in the process. Bytes; one request may have a megabyte. */
const LEFT_BYTES = 200 * 1024 * 1024;
/** Unfinished requests at once. */
const SLOW = 200;

describe('malformed requests', () => {
  let server: ApiServer;
  let conversations: string;
  beforeAll(async () => {
    server = await openApiServer();
    conversations = `/api/v1/orgs/${server.owner.orgId}/conversations`;
  });
  afterAll(() => server?.app.close());

  const head = (method: string, path: string, headers: readonly string[]): string =>
    [
      `${method} ${path} HTTP/1.1`,
      `Host: ${new URL(server.app.url).host}`,
      `Authorization: Bearer ${server.token}`,
      ...headers,
      '',
      '',
    ].join('\r\n');
  const post = async (body: string | Buffer, type = 'application/json', path = conversations): Promise<RawAnswer> => {
    const bytes = Buffer.from(body);
    const sent = Buffer.concat([
      Buffer.from(
        head('POST', path, [`Content-Type: ${type}`, `Content-Length: ${bytes.length}`, 'Connection: close']),
      ),
      bytes,
    ]);
    return (await sendRaw(server.app.url, sent, 10_000))[0] ?? { status: 0, type: '', body: '' };
  };
  const codeOf = ({ body }: RawAnswer): string => (JSON.parse(body) as { code: string }).code;
  const alive = async (): Promise<number> =>
    (await fetch(`${server.app.url}/api/v1/me`, { headers: { authorization: `Bearer ${server.token}` } })).status;

  for (const [what, body, status, code] of [
    ['deeper than any stack', `{"prompt":${'['.repeat(400_000)}${']'.repeat(400_000)}}`, 400, 'request.invalid'],
    ['brackets that are never closed', '['.repeat(900_000), 400, 'request.not-json'],
    ['half a surrogate pair', '{"prompt":"\\ud800"}', 400, 'request.invalid'],
    ['half a surrogate pair as a name', '{"prompt":"x","\\udfff":1}', 400, 'request.invalid'],
    ['NUL', '{"prompt":"a\\u0000b"}', 400, 'request.invalid'],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), 400, 'request.invalid'],
    ['NaN', '{"prompt":NaN}', 400, 'request.not-json'],
    ['Infinity', '{"prompt":"x","title":-Infinity}', 400, 'request.not-json'],
    ['a number beyond all numbers', '{"prompt":1e999}', 400, 'request.invalid'],
    ['__proto__', '{"prompt":"x","__proto__":{"admin":true}}', 400, 'request.not-json'],
    ['__proto__ in other letters', '{"prompt":"x","\\u005f_proto__":{"admin":true}}', 400, 'request.not-json'],
    ['constructor.prototype', '{"prompt":"x","constructor":{"prototype":{"admin":true}}}', 400, 'request.not-json'],
    [
      'a hundred thousand names',
      `{${Array.from({ length: 70_000 }, (_, index) => `"n${index}":1`).join(',')}}`,
      400,
      'request.invalid',
    ],
    ['two megabytes', `{"prompt":"${'a'.repeat(2 * 1024 * 1024)}"}`, 413, 'request.too-large'],
    ['null', 'null', 400, 'request.invalid'],
    ['an array', '[[[]]]', 400, 'request.invalid'],
    ['nothing but blanks', ' \n\t ', 400, 'request.not-json'],
  ] as ReadonlyArray<readonly [string, string | Buffer, number, string]>)
    it(`a body with ${what} is refused with the reason`, async () => {
      const answer = await post(body);
      expect([answer.status, answer.type]).toEqual([status, 'application/problem+json']);
      expect(codeOf(answer)).toBe(code);
    });

  it('of a name that is given twice the last counts, for what is checked as for what is done', async () => {
    const answer = await post('{"prompt":1,"title":"first","title":"last","prompt":"x"}');
    expect([answer.status, (JSON.parse(answer.body) as { title: string }).title]).toEqual([201, 'last']);
    const other = await post('{"prompt":"x","prompt":1}');
    expect([other.status, codeOf(other)]).toEqual([400, 'request.invalid']);
  });

  it('a body of another kind is refused as such, whatever is in it', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/xml',
      'application/jsonp',
      'json',
      '*/*',
      'application/json/../xml',
      ';',
    ]) {
      const answer = await post('{"prompt":"x"}', type);
      expect([type, answer.status, answer.type]).toEqual([type, 400, 'application/problem+json']);
    }
    expect((await post('{"prompt":"x"}', 'application/json; charset=utf-8')).status).toBe(201);
  });

  it('text that no database can hold is refused in addresses, too', async () => {
    for (const [path, status] of [
      [`${conversations}/%00`, 404],
      [`${conversations}?cursor=%00`, 400],
      [`/api/v1/orgs/%00/conversations`, 404],
      [`${conversations}/%ff`, 400],
      [`/api/v1/orgs/${'x'.repeat(2_000)}`, 400],
      [`/api/v1/orgs/${server.owner.orgId}/audit?target=%00`, 400],
    ] as const) {
      const [answer] = await sendRaw(server.app.url, head('GET', path, ['Connection: close']));
      expect([path.slice(-40), answer?.status, answer?.type]).toEqual([
        path.slice(-40),
        status,
        'application/problem+json',
      ]);
    }
  });

  it('a request whose end two readers would see in two places is not read at all, and nothing that follows it is', async () => {
    const smuggled = head('GET', '/api/v1/me', []);
    const before = await server.app.owner.query<{ n: number }>('SELECT count(*)::int AS n FROM app.conversation');
    for (const [what, headers, body] of [
      [
        'both lengths',
        ['Content-Type: application/json', 'Content-Length: 4', 'Transfer-Encoding: chunked'],
        `0\r\n\r\n${smuggled}`,
      ],
      ['two lengths', ['Content-Type: application/json', 'Content-Length: 4', 'Content-Length: 40'], `{}  ${smuggled}`],
      [
        'a coding that hides another',
        ['Content-Type: application/json', 'Transfer-Encoding: chunked, identity'],
        `0\r\n\r\n${smuggled}`,
      ],
      ['a blank before the colon', ['Content-Type: application/json', 'Content-Length : 4'], `{}  ${smuggled}`],
      ['a sign before the length', ['Content-Type: application/json', 'Content-Length: +4'], `{}  ${smuggled}`],
      [
        'a chunk of a size that is none',
        ['Content-Type: application/json', 'Transfer-Encoding: chunked'],
        `0x4\r\n{}  \r\n0\r\n\r\n${smuggled}`,
      ],
      ['a line that goes on', ['Content-Type: application/json', 'X-A: b', ' Content-Length: 4'], smuggled],
      ['a bare line feed', ['Content-Type: application/json\nX-A: b', 'Content-Length: 0'], smuggled],
      ['NUL in a header', ['X-A: b\u0000c', 'Content-Length: 0'], smuggled],
    ] as ReadonlyArray<readonly [string, readonly string[], string]>) {
      const answers = await sendRaw(server.app.url, head('POST', conversations, headers) + body, 1_500);
      expect([what, answers.map(({ status, type }) => [status, type])]).toEqual([
        what,
        [[400, 'application/problem+json']],
      ]);
    }
    const afterwards = await server.app.owner.query<{ n: number }>('SELECT count(*)::int AS n FROM app.conversation');
    expect(afterwards.rows).toEqual(before.rows);
  });

  it('an address is as long as the longest filters may make it', async () => {
    const filters = new URLSearchParams({
      repository: '€'.repeat(2_048),
      model: '€'.repeat(200),
      search: '€'.repeat(200),
    });
    const answer = await fetch(`${server.app.url}${conversations}?${filters}`, {
      headers: { authorization: `Bearer ${server.token}` },
    });
    expect([answer.status, await answer.json()]).toMatchObject([200, { data: [] }]);
  });

  it('headers that are too many or too long are refused, and a method that is none', async () => {
    const long = await sendRaw(server.app.url, head('GET', '/api/v1/me', [`X-Long: ${'a'.repeat(64 * 1024)}`]), 1_500);
    expect(long.map(({ status }) => status)).toEqual([413]);
    const many = await sendRaw(
      server.app.url,
      head(
        'GET',
        '/api/v1/me',
        Array.from({ length: 3_000 }, (_, index) => `X-${index}: a`),
      ),
      1_500,
    );
    expect(many.map(({ status }) => status)).toEqual([413]);
    for (const method of ['TRACE', 'CONNECT', 'BREW', 'GET\u0000'])
      expect([
        method,
        (await sendRaw(server.app.url, head(method, '/api/v1/me', ['Connection: close']), 1_500)).every(
          ({ status }) => status >= 400,
        ),
      ]).toEqual([method, true]);
  });

  it('hundreds of requests that never end delay no other request, and are all given up', async () => {
    const sockets = await Promise.all(Array.from({ length: SLOW }, () => openSocket(server.app.url)));
    try {
      for (const [index, socket] of sockets.entries())
        socket.write(
          index % 2 === 0
            ? `POST ${conversations} HTTP/1.1\r\nHost: x\r\nX-Slow: `
            : `${head('POST', conversations, ['Content-Type: application/json', 'Content-Length: 500000'])}{"prompt":"`,
        );
      const began = performance.now();
      for (let turn = 0; turn < 20; turn += 1) {
        for (const socket of sockets) socket.write('a');
        expect(await alive()).toBe(200);
      }
      expect((performance.now() - began) / 20).toBeLessThan(500);
      const http = httpServer();
      expect(http.headersTimeout).toBeLessThanOrEqual(60_000);
      expect(http.headersTimeout).toBeGreaterThan(0);
      expect(http.requestTimeout).toBeLessThanOrEqual(300_000);
      expect(http.requestTimeout).toBeGreaterThan(0);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
    await until('the server has let go of them', async () => (await connections()) < 20);
  });
  const httpServer = (): Server => server.app.replicas[0]?.app.getHttpServer() as Server;
  const connections = (): Promise<number> =>
    new Promise((resolve, reject) =>
      httpServer().getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
    );

  it('leave the process as it was, but for some memory', async () => {
    const before = process.memoryUsage().rss;
    for (let round = 0; round < 4; round += 1)
      await Promise.all([
        post(`{"prompt":${'['.repeat(400_000)}${']'.repeat(400_000)}}`),
        post('['.repeat(900_000)),
        post(`{"prompt":"${'a'.repeat(2 * 1024 * 1024)}"}`),
        post(`{"prompt":"${'\\ud800'.repeat(100_000)}"}`),
      ]);
    expect(await alive()).toBe(200);
    expect(process.memoryUsage().rss - before).toBeLessThan(LEFT_BYTES);
  });
});
