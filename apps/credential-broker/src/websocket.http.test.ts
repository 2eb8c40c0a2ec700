import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { OpenedCredential, OpenedRule } from '@slipway/contracts/credentials';
import { until } from '@slipway/testing';
import { WebSocket, WebSocketServer } from 'ws';
import { credential, LINE, rule, TestBroker } from './testing/test-broker.js';

const HOST = 'socket.example.com';
const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
/** More than the sockets on the way hold. Bytes. */
const MUCH = 64 * 1024 * 1024;

describe('a WebSocket through the broker', () => {
  let world: TestBroker;
  let origin: Awaited<ReturnType<TestBroker['origin']>>;
  let sockets: WebSocketServer;
  let token: OpenedCredential;
  /** What the host takes, and what it was asked. */
  const asked: IncomingMessage[] = [];
  beforeAll(async () => {
    world = await TestBroker.start({ BROKER_IDLE_SECONDS: '10' });
    origin = await world.origin(HOST, (_request, response) => void response.end('hello'));
    sockets = new WebSocketServer({
      server: origin.server,
      verifyClient: ({ req }: { req: IncomingMessage }) => req.url !== '/v1/closed',
    });
    sockets.on('connection', (socket, request) => {
      asked.push(request);
      if (request.url === '/v1/flood') socket.send(Buffer.alloc(MUCH));
      socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
      socket.on('error', () => {});
    });
  });
  beforeEach(async () => {
    asked.length = 0;
    token = credential({
      form: 'bearer',
      places: [{ host: HOST, port: origin.port, paths: ['/v1/**'], websocket: true }],
    });
    world.control.rules = [];
    await world.give(token);
  });
  afterAll(async () => {
    sockets?.close();
    await world?.close();
  });
  const dial = async (path: string, headers: Record<string, string> = {}): Promise<WebSocket> => {
    const socket = await world.secure({ host: HOST });
    const made = new WebSocket(`wss://${HOST}:${origin.port}${path}`, { headers, createConnection: () => socket });
    made.on('error', () => {});
    return made;
  };
  const open = async (path: string): Promise<WebSocket> => {
    const socket = await dial(path);
    await once(socket, 'open');
    return socket;
  };
  /** The status of a handshake that does not succeed. */
  const refusal = async (path: string, headers: Record<string, string> = {}): Promise<string> => {
    const socket = await dial(path, headers);
    const [error] = (await once(socket, 'error')) as [Error];
    return error.message;
  };
  const byRule = (limits: Partial<OpenedRule['limits']>): OpenedRule => rule(HOST, limits, { port: origin.port });

  it('gets the credential into its handshake, and its frames pass both ways', async () => {
    const socket = await open('/v1/live');
    expect(asked[0]?.headers).toMatchObject({ authorization: `Bearer ${token.value}`, upgrade: 'websocket' });
    for (const text of ['one', 'x'.repeat(200_000)]) {
      socket.send(text);
      const [data] = (await once(socket, 'message')) as [Buffer];
      expect(data.toString() === text).toBe(true);
    }
    socket.close(4000, 'enough');
    expect(((await once(socket, 'close')) as [number])[0]).toBe(4000);
  });

  it('is refused in words at a place or by a rule that does not say so, and the host sees nothing', async () => {
    const silent = credential({ form: 'bearer', places: [{ host: HOST, port: origin.port }] });
    await world.give(silent);
    expect(await refusal('/v1/live')).toContain('403');
    await world.give();
    await world.rule(byRule({ methods: ['GET'] }));
    expect(await refusal('/v1/live')).toContain('403');
    await world.rule(byRule({ methods: ['GET'], paths: ['/v2'], websocket: true }));
    expect(await refusal('/v1/live')).toContain('403');
    const answer = await world.raw(
      HOST,
      `GET /v1/live HTTP/1.1\r\nHost: ${HOST}:${origin.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${KEY}\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 403 Slipway: .*no rule allows it/);
    expect(asked).toEqual([]);
  });

  it('passes without a credential where a rule says so, and brings none of its own unless the rule lets it', async () => {
    await world.give();
    await world.rule(byRule({ methods: ['GET'], websocket: true }));
    (await open('/any')).close();
    expect(asked[0]?.headers.authorization).toBeUndefined();
    expect(await refusal('/any', { authorization: 'Bearer attackers-own' })).toContain('403');
    expect(asked).toHaveLength(1);
  });

  it('is none for a handshake with another method, version, key or a body, nor for another protocol', async () => {
    const send = (lines: string, method = 'GET'): Promise<string> =>
      world.raw(HOST, `${method} /v1/live HTTP/1.1\r\nHost: ${HOST}:${origin.port}\r\n${lines}\r\n`);
    const good = `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${KEY}\r\n`;
    for (const [lines, method] of [
      [good, 'POST'],
      [good.replace(': 13', ': 8'), 'GET'],
      [good.replace(KEY, 'short'), 'GET'],
      [good.replace('websocket', 'websocket, h2c'), 'GET'],
      [`${good}Content-Length: 5\r\n`, 'GET'],
      [`${good}Transfer-Encoding: chunked\r\n`, 'GET'],
    ] as const)
      expect(await send(lines, method)).toMatch(/^HTTP\/1\.1 40[03] /);
    // A request as any other: it does not upgrade.
    expect(await send('Connection: Upgrade, close\r\nUpgrade: h2c\r\n')).toMatch(/^HTTP\/1\.1 200 /);
    expect(asked).toEqual([]);
  });

  it('that the host refuses is answered as the host does, and nothing more is read from the client', async () => {
    const before = origin.seen.length;
    const answer = await world.raw(
      HOST,
      `GET /v1/closed HTTP/1.1\r\nHost: ${HOST}:${origin.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${KEY}\r\n\r\nGET /v1/second HTTP/1.1\r\nHost: ${HOST}:${origin.port}\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(origin.seen.length).toBe(before);
  });

  it.each([
    ['credential is removed', () => world.say()],
    [
      'place does not say so any more',
      () => {
        const [place] = token.use.places;
        world.say({ ...token, use: { ...token.use, places: [{ ...place, websocket: false }] } as typeof token.use });
      },
    ],
    [
      'path is refused by a rule',
      () => {
        world.control.rules = [{ ...byRule({ paths: ['/v1/**'] }), action: 'deny' }];
        world.control.change(LINE.org);
      },
    ],
  ])('(B13) is cut within a second once its %s', async (_name, change) => {
    const socket = await open('/v1/live');
    const closed = once(socket, 'close');
    const upstream = new Promise((resolve) => [...sockets.clients].at(-1)?.once('close', resolve));
    const since = performance.now();
    change();
    await Promise.all([closed, upstream]);
    expect(performance.now() - since).toBeLessThan(1_000);
  });

  it('(G1) of a rule is cut once the rule lets no WebSockets pass, and goes on when only others change', async () => {
    await world.give();
    const given = byRule({ methods: ['GET'], websocket: true });
    await world.rule(given);
    const socket = await open('/any');
    await world.rule(given, rule('other.example.com', { methods: ['GET'] }));
    socket.send('still here');
    await once(socket, 'message');
    const closed = once(socket, 'close');
    world.control.rules = [{ ...given, limits: { ...given.limits, websocket: false } as OpenedRule['limits'] }];
    world.control.change(LINE.org);
    await closed;
  });

  it('that is not read holds the host back, and keeps no more than the sockets take', async () => {
    const socket = await dial('/v1/flood');
    await once(socket, 'upgrade');
    socket.pause();
    const host = await new Promise<WebSocket>((resolve) => {
      const look = (): void => {
        const found = [...sockets.clients].find(({ bufferedAmount }) => bufferedAmount > 0);
        if (found === undefined) setImmediate(look);
        else resolve(found);
      };
      look();
    });
    // It stays where it is: most of it is not taken.
    let last = -1;
    await until('nothing moves', () => {
      const moved = host.bufferedAmount !== last;
      last = host.bufferedAmount;
      return !moved;
    });
    expect(host.bufferedAmount).toBeGreaterThan(MUCH / 2);
    const message = once(socket, 'message');
    socket.resume();
    const [data] = (await message) as [Buffer];
    expect(data.length).toBe(MUCH);
    socket.terminate();
  });

  it('in which nothing is said ends', async () => {
    const quick = await TestBroker.start({ BROKER_IDLE_SECONDS: '1' });
    try {
      const host = await quick.origin(HOST, () => {});
      const server = new WebSocketServer({ server: host.server });
      await quick.rule(rule(HOST, { websocket: true }, { port: host.port }));
      const socket = await quick.secure({ host: HOST });
      const made = new WebSocket(`wss://${HOST}:${host.port}/`, { createConnection: () => socket });
      await once(made, 'open');
      await once(made, 'close');
      server.close();
    } finally {
      await quick.close();
    }
  });
});
