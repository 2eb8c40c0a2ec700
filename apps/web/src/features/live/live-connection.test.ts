import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LIVE_OPEN } from '@slipway/contracts/live';
import { until } from '@slipway/testing';
import { type WebSocket as ServerSocket, WebSocketServer } from 'ws';
import { t } from '../../messages/testing.ts';
import { LiveConnection } from './live-connection.ts';
import type { LiveState } from './live-state.ts';

describe('a live connection', () => {
  let server: WebSocketServer;
  const came: Array<{ socket: ServerSocket; address: string; token: string }> = [];
  /** Whether the sandbox answers a proof. */
  let stands = true;
  beforeAll(async () => {
    Object.assign(globalThis, { window: new EventTarget() });
    server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    server.on('connection', (socket, request) => {
      socket.once('message', (data) => {
        came.push({
          socket,
          address: request.url ?? '',
          token: (JSON.parse(String(data)) as { session_api_key: string }).session_api_key,
        });
        if (stands) socket.send(JSON.stringify(LIVE_OPEN));
      });
    });
  });
  afterAll(() => {
    for (const { socket } of came) socket.terminate();
    server.close();
  });

  function connect(): {
    connection: LiveConnection;
    states: LiveState[];
    messages: unknown[];
    asked: () => number;
    last: () => LiveState['phase'] | undefined;
  } {
    const [states, messages]: [LiveState[], unknown[]] = [[], []];
    let asked = 0;
    const connection = new LiveConnection({
      t,
      address: 'terminal?shell=x',
      way: async () => ({
        url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/sandbox`,
        token: `token-${asked}`,
      }),
      forget: () => {
        asked += 1;
      },
      listener: { onMessage: (message) => void messages.push(message) },
      changed: (state) => void states.push(state),
    });
    return { connection, states, messages, asked: () => asked, last: () => states.at(-1)?.phase };
  }
  const newest = async (count: number): Promise<ServerSocket> => (await until('the socket', () => came[count])).socket;

  it('says who it is with its first frame and is open when the channel stands, not before', async () => {
    stands = false;
    const count = came.length;
    const { connection, messages, last } = connect();
    const socket = await newest(count);
    expect(came[count]).toMatchObject({ address: '/sandbox/sockets/live/terminal?shell=x', token: 'token-0' });
    expect([last(), connection.send({ type: 'early' })]).toEqual(['connecting', false]);
    socket.send(JSON.stringify(LIVE_OPEN));
    await until('it is open', () => last() === 'open');
    const heard = once(socket, 'message');
    expect(connection.send({ type: 'late' })).toBe(true);
    expect(String((await heard)[0])).toBe('{"type":"late"}');
    socket.send('{"type":"sent"}');
    await until('the message', () => messages.length > 0);
    expect(messages).toEqual([{ type: 'sent' }]);
    connection.close();
    stands = true;
  });

  it('comes back by itself when it is cut, and says why it is away in a sentence', async () => {
    const count = came.length;
    const { connection, states, last } = connect();
    (await newest(count)).close(1012, 'the gateway is restarting; connect again');
    await until('it was away', () =>
      states.some((state) => state.phase === 'away' && state.reason === 'The gateway is restarting.'),
    );
    await newest(count + 1);
    await until('it is open again', () => last() === 'open');
    connection.close();
  });

  it('asks for a new access once when the proof is refused, and leaves it to the person when somebody ended the access', async () => {
    stands = false;
    const count = came.length;
    const { connection, states, asked, last } = connect();
    (await newest(count)).close(4001, 'the session key is missing or wrong');
    const second = await newest(count + 1);
    expect([came[count + 1]?.token, asked()]).toEqual(['token-1', 1]);
    stands = true;
    second.send(JSON.stringify(LIVE_OPEN));
    await until('it is open', () => last() === 'open');
    second.close(4001, 'access has ended');
    await until('it is refused', () => last() === 'refused');
    expect(states.at(-1)).toEqual({ phase: 'refused', reason: 'Access to this sandbox was revoked.' });
    connection.retry();
    await newest(count + 2);
    await until('it is open again', () => last() === 'open');
    connection.close();
  });

  it('stays away from what the sandbox does not have', async () => {
    const count = came.length;
    const { connection, states, last } = connect();
    (await newest(count)).close(4010, 'This shell has been closed');
    await until('it is refused', () => last() === 'refused');
    expect(states.at(-1)).toEqual({ phase: 'refused', reason: 'This shell has been closed.' });
    connection.close();
  });
});
