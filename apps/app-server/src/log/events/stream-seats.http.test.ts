import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { until } from '@slipway/testing';
import { io, type Socket } from 'socket.io-client';
import { ConversationApp, type User } from '../../testing/conversation-app.js';

const PER_USER = 5;

jest.setTimeout(240_000);

describe('a user that opens one stream too many', () => {
  let app: ConversationApp;
  let greedy: User;
  let modest: User;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    app = await ConversationApp.start({ env: { STREAMS_PER_USER: String(PER_USER), STREAMS_PER_ORG: '8' } });
    [greedy, modest] = [await app.user(), await app.user()];
  });
  afterAll(async () => {
    for (const socket of sockets) socket.close();
    await app?.close();
  });

  /** `connected`, or the code of the refusal. */
  function connect(user: User): Promise<string> {
    const socket = io(app.url, {
      transports: ['websocket'],
      forceNew: true,
      reconnection: false,
      extraHeaders: { cookie: user.cookie, origin: new URL(app.url).origin },
    });
    sockets.push(socket);
    return new Promise((resolve) => {
      socket.on('connect', () => resolve('connected'));
      socket.on('connect_error', (error) =>
        resolve((error as Error & { data?: { code: string } }).data?.code ?? error.message),
      );
    });
  }
  const stream = (user: User, id: string, signal: AbortSignal): Promise<Response> =>
    fetch(`${app.url}${app.path(user, id, '/events')}`, {
      headers: { cookie: user.cookie, accept: 'text/event-stream' },
      signal,
    });
  const metric = async (name: string): Promise<number> => {
    const text = (await app.replicas[0]?.metrics()) ?? '';
    return [...text.matchAll(new RegExp(`^${name}(?:{[^}]*})? (\\d+)$`, 'gm'))].reduce(
      (sum, [, value]) => sum + Number(value),
      0,
    );
  };

  it('is refused the socket with a code, another is not, and a place that is left is free again', async () => {
    for (let index = 0; index < PER_USER; index += 1) expect(await connect(greedy)).toBe('connected');
    expect(await connect(greedy)).toBe('stream.limit');
    expect(await connect(modest)).toBe('connected');
    expect(await metric('streams_open')).toBe(PER_USER + 1);
    expect(await metric('streams_refused_total')).toBe(1);
    for (const socket of sockets.splice(0)) socket.close();
    await until('all places are free', async () => (await metric('streams_open')) === 0);
    expect(await connect(greedy)).toBe('connected');
    sockets.pop()?.close();
    await until('its place is free', async () => (await metric('streams_open')) === 0);
  });

  it('is refused the event stream with 429 and a time, and streams that end give their places back', async () => {
    const { id } = await app.conversation(greedy);
    const control = new AbortController();
    for (let index = 0; index < PER_USER; index += 1)
      expect((await stream(greedy, id, control.signal)).status).toBe(200);
    const refused = await stream(greedy, id, control.signal);
    expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toEqual([
      429,
      '10',
      expect.objectContaining({ code: 'stream.limit' }),
    ]);
    control.abort();
    await until('all places are free', async () => (await metric('streams_open')) === 0);
    const last = new AbortController();
    expect((await stream(greedy, id, last.signal)).status).toBe(200);
    last.abort();
    await until('its place is free', async () => (await metric('streams_open')) === 0);
  });
});
