import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { until } from '@slipway/testing';
import { rawDownload } from './raw-download.js';

const OK = (length: number, ...more: string[]): string =>
  [
    'HTTP/1.1 200 OK',
    `Content-Length: ${length}`,
    'Content-Type: application/octet-stream',
    'Set-Cookie: no=1',
    ...more,
    '',
    '',
  ].join('\r\n');

jest.setTimeout(120_000);

describe('a download that goes past the parser', () => {
  /** The tool process: what it does with a connection is each test's. */
  let tool: net.Server;
  let answer: (socket: Socket, request: string) => void;
  const asked: Socket[] = [];
  let front: http.Server;
  const outcomes: unknown[] = [];
  beforeAll(async () => {
    tool = net.createServer((socket) => {
      asked.push(socket);
      socket.on('error', () => {});
      socket.once('data', (request: Buffer) => answer(socket, request.toString()));
    });
    front = http.createServer((request, response) => {
      const url = new URL(request.url ?? '/', `http://127.0.0.1:${(tool.address() as AddressInfo).port}`);
      const leave = new AbortController();
      response.once('close', () => leave.abort());
      rawDownload({ url, headers: { 'x-session-api-key': 'the-token' }, signal: leave.signal }, response).then(
        (handed) => {
          outcomes.push(handed);
          if (!handed) response.writeHead(501).end('somebody else');
        },
        (error: unknown) => {
          outcomes.push(error);
          response.writeHead(503).end();
        },
      );
    });
    for (const server of [tool, front]) await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(() => {
    for (const socket of asked) socket.destroy();
    front?.closeAllConnections();
    front?.close();
    tool?.close();
  });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  afterAll(() => agent.destroy());
  const get = (path = '/file?path=a'): Promise<http.IncomingMessage> =>
    new Promise((resolve, reject) =>
      http
        .get({ port: (front.address() as AddressInfo).port, host: '127.0.0.1', path, agent }, resolve)
        .once('error', reject),
    );
  const read = async (message: http.IncomingMessage): Promise<Buffer> => {
    const parts: Buffer[] = [];
    for await (const part of message) parts.push(part as Buffer);
    return Buffer.concat(parts);
  };

  it('is there byte for byte, whatever its length and however it comes, one after the other on one connection of the client', async () => {
    const ports = new Set<number | undefined>();
    for (const length of [0, 1, 65_537, 524_288, 3_000_001]) {
      const body = randomBytes(length);
      let head = '';
      answer = async (socket, request) => {
        head = request;
        const whole = Buffer.concat([Buffer.from(OK(length)), body]);
        socket.write(whole.subarray(0, 20));
        await new Promise((resolve) => setImmediate(resolve));
        socket.end(whole.subarray(20));
      };
      const message = await get('/file?path=%0D%0Ax');
      ports.add(message.socket.localPort);
      expect(message.headers).toMatchObject({
        'content-length': String(length),
        'content-type': 'application/octet-stream',
      });
      expect(message.headers['set-cookie']).toBeUndefined();
      expect((await read(message)).equals(body)).toBe(true);
      expect(head).toMatch(/^GET \/file\?path=%0D%0Ax HTTP\/1\.1\r\n[\s\S]*x-session-api-key: the-token\r\n\r\n$/);
    }
    expect(ports.size).toBe(1);
  });

  it('ends at the length that was announced, though more comes', async () => {
    answer = (socket) => socket.end(`${OK(5)}12345HTTP/1.1 200 OK\r\n\r\nsmuggled`);
    expect((await read(await get())).toString()).toBe('12345');
  });

  it('breaks off when action-server does, so that a part never passes for the whole', async () => {
    answer = (socket) => socket.end(`${OK(10)}12345`);
    await expect(get().then(read)).rejects.toThrow(/aborted/);
  });

  for (const [name, said] of [
    ['an error', 'HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n{}'],
    ['no length', 'HTTP/1.1 200 OK\r\n\r\nwords'],
    ['a length that is none', OK(1).replace('Length: 1', 'Length: 1e3')],
    ['chunks', OK(5, 'Transfer-Encoding: chunked')],
    ['a header that no server may say', OK(1, 'ETag: a\u0001b')],
    ['a header in two lines', OK(1, 'ETag: a\nSet-Cookie: b')],
    ['a head without an end', 'x'.repeat(40_000)],
    ['no HTTP', 'SSH-2.0\r\n\r\n'],
  ] as const)
    it(`leaves an answer with ${name} to others, and has written nothing`, async () => {
      answer = (socket) => socket.write(said);
      const message = await get();
      expect([message.statusCode, (await read(message)).toString()]).toEqual([501, 'somebody else']);
    });

  it('fails without an answer', async () => {
    answer = (socket) => socket.destroy();
    const message = await get();
    await read(message);
    expect([message.statusCode, outcomes.at(-1)]).toEqual([503, expect.any(Error)]);
  });

  it('reads no further than its client, and ends the connection of the tool process when the client leaves', async () => {
    let written = 0;
    let gone = false;
    answer = (socket) => {
      socket.write(OK(500_000_000));
      socket.once('close', () => {
        gone = true;
      });
      const piece = Buffer.alloc(1_000_000);
      const more = (): void => {
        while (!socket.destroyed && written < 500) {
          written += 1;
          if (!socket.write(piece)) return void socket.once('drain', more);
        }
      };
      more();
    };
    const message = await get();
    let before = -1;
    await until('nothing is read any more', async () => {
      const same = before === written;
      before = written;
      await new Promise((resolve) => setTimeout(resolve, 300));
      return same && before === written;
    });
    expect(written).toBeLessThan(100);
    message.destroy();
    await until('the tool process is let go', () => gone);
  });
});
