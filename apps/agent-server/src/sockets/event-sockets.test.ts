import { randomUUID } from 'node:crypto';
import type { Socket as NetSocket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ConversationEvent } from '@slipway/contracts/events';
import { PACE_WINDOW_MS } from '@slipway/net';
import { type ModelServer, startModelServer, until } from '@slipway/testing';
import { WebSocket } from 'ws';
import { TestSandbox } from '../testing/sandbox.js';

type Frame = ConversationEvent & { key?: string };

/** A client as OpenHands' SDK is one: authenticates with its first frame, and drops events that it has. */
class Client {
  readonly frames: Frame[] = [];
  closed: number | undefined;
  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data) => void this.frames.push(JSON.parse(String(data)) as Frame));
    socket.on('close', (code) => {
      this.closed = code;
    });
    socket.on('error', () => {});
  }

  static open(url: string, first: object | string | null, headers: Record<string, string> = {}): Client {
    const socket = new WebSocket(url.replace('http', 'ws'), { headers });
    const client = new Client(socket);
    if (first !== null)
      socket.once('open', () => socket.send(typeof first === 'string' ? first : JSON.stringify(first)));
    return client;
  }

  /** Without the first frame. */
  get events(): Frame[] {
    return this.frames.slice(1);
  }
}

describe('/sockets/events/{id}', () => {
  let sandbox: TestSandbox;
  let model: ModelServer;
  beforeAll(async () => {
    sandbox = await TestSandbox.start();
    model = await startModelServer({ script: () => ({ text: 'fine' }) });
  });
  afterAll(async () => {
    await sandbox.close();
    await model.close();
  });

  async function conversation(): Promise<string> {
    const { body } = await sandbox.call<{ id: string }>('POST', '/api/conversations', {
      agent: { llm: { model: 'm', base_url: model.url, stream: true } },
      workspace: { working_dir: sandbox.workspace },
    });
    return body.id;
  }
  const auth = (): object => ({ type: 'auth', session_api_key: sandbox.sessionKey });
  const say = (id: string, text: string, run = false): Promise<unknown> =>
    sandbox.call('POST', `/api/conversations/${id}/events`, { role: 'user', content: [{ type: 'text', text }], run });
  const path = (id: string, query = ''): string => `${sandbox.url}/sockets/events/${id}${query}`;

  it('begins with the full state, then sends history and live events, each once and in order', async () => {
    const id = await conversation();
    for (let index = 0; index < 20; index += 1) await say(id, `before ${index}`);
    const client = Client.open(path(id, '?resend_mode=all'), auth());
    await Promise.all(Array.from({ length: 20 }, (_, index) => say(id, `during ${index}`)));
    await until('all of them', () => client.events.length === 41);
    expect(client.frames[0]).toMatchObject({ kind: 'ConversationStateUpdateEvent', key: 'full_state' });
    const { body } = await sandbox.call<{ items: Frame[] }>('GET', `/api/conversations/${id}/events/search`);
    expect(client.events).toEqual(body.items);
    client.socket.close();
  });

  it('gives a client that comes back what it missed, and a dedupe by id gives the log', async () => {
    const id = await conversation();
    const first = Client.open(path(id, '?resend_mode=all'), auth());
    await say(id, 'one');
    await until('it', () => first.events.length === 2);
    first.socket.terminate();
    await say(id, 'two');
    const since = encodeURIComponent((first.events.at(-1) as Frame).timestamp);
    const second = Client.open(path(id, `?resend_mode=since&after_timestamp=${since}`), null, {
      'x-session-api-key': sandbox.sessionKey,
    });
    await until('the rest', () => second.events.length >= 2);
    const seen = new Map([...first.events, ...second.events].map((event) => [event.id, event]));
    const { body } = await sandbox.call<{ items: Frame[] }>('GET', `/api/conversations/${id}/events/search`);
    expect([...seen.values()]).toEqual(body.items);
    second.socket.close();
  });

  it('sends only what is new without a resend mode', async () => {
    const id = await conversation();
    await say(id, 'old');
    const client = Client.open(path(id), auth());
    await until('the subscription', () => client.frames.length === 1);
    await say(id, 'new');
    await until('it', () => client.events.length === 1);
    expect(JSON.stringify(client.events)).toContain('new');
    client.socket.close();
  });

  it('takes a message and starts a run, with the text as it is written', async () => {
    const id = await conversation();
    const client = Client.open(path(id), auth());
    await until('the subscription', () => client.frames.length === 1);
    client.socket.send(JSON.stringify({ role: 'user', content: [{ type: 'text', text: 'are you fine?' }] }));
    await until('the end', () =>
      client.events.some(
        (event) => event.key === 'execution_status' && (event as { value?: unknown }).value === 'finished',
      ),
    );
    expect(client.events.filter((event) => (event.kind as string) === 'StreamingDeltaEvent').length).toBeGreaterThan(0);
    client.socket.send('{not json');
    await until('the refusal', () =>
      client.events.some((event) => (event.kind as string) === 'ConversationErrorEvent'),
    );
    client.socket.close();
  });

  it('takes a message that is sent right after the credential', async () => {
    const id = await conversation();
    const client = Client.open(path(id), auth());
    client.socket.once('open', () =>
      client.socket.send(JSON.stringify({ role: 'user', content: [{ type: 'text', text: 'at once' }] })),
    );
    await until('the message', () => client.frames.some((frame) => frame.kind === 'MessageEvent'));
    client.socket.close();
  });

  it('closes with 4001 without a credential and 4004 for a conversation that is not there', async () => {
    const id = await conversation();
    const refused = [
      Client.open(path(id), { type: 'auth', session_api_key: 'wrong' }),
      Client.open(path(id), 'hello'),
      Client.open(path(id), null, { 'x-session-api-key': 'wrong' }),
      Client.open(path(id, '?session_api_key=wrong'), null),
    ];
    for (const client of refused) expect(await until('closed', () => client.closed)).toBe(4001);
    const unknown = Client.open(path(randomUUID()), auth());
    expect(await until('closed', () => unknown.closed)).toBe(4004);
  });

  it('lets a slow reader be slow: others are not held up, and it gets everything when it reads', async () => {
    const id = await conversation();
    const slow = Client.open(path(id, '?resend_mode=all'), auth());
    const quick = Client.open(path(id, '?resend_mode=all'), auth());
    await until('both', () => slow.frames.length > 1 && quick.frames.length > 1);
    slow.socket.pause();
    const text = 'x'.repeat(200_000);
    for (let index = 0; index < 60; index += 1) await say(id, text);
    await until('the quick one', () => quick.events.length === 61, 60_000);
    expect(slow.events.length).toBeLessThan(61);
    slow.socket.resume();
    await until('the slow one', () => slow.events.length === 61, 60_000);
    expect(slow.events.map((event) => event.id)).toEqual(quick.events.map((event) => event.id));
    slow.socket.close();
    quick.socket.close();
  });

  it('closes with 1013 who takes 1 KB a second of what waits, or nothing, and not who takes enough; coming back it gets the remainder', async () => {
    const id = await conversation();
    const [trickling, stopped, steady] = [1, 2, 3].map(() => Client.open(path(id, '?resend_mode=all'), auth())) as [
      Client,
      Client,
      Client,
    ];
    await until('all three', () => [trickling, stopped, steady].every((client) => client.events.length > 0));
    const stop = [trickle(trickling, 1_000), trickle(stopped, 0), trickle(steady, 400_000)];
    try {
      const text = 'x'.repeat(200_000);
      for (let index = 0; index < 60; index += 1) await say(id, text);
      await until(
        'the writes to the slow ones have stopped',
        () => trickling.events.length < 61 && stopped.events.length < 61,
      );
      // Long enough for a whole window; then the first one reads on and finds the close frame at the end of what was
      // sent.
      await wait(PACE_WINDOW_MS + 4_000);
      stop[0]?.();
      expect(await until('closed', () => trickling.closed, 10_000)).toBe(1013);
      expect(trickling.events.length).toBeLessThan(61);
      stop[1]?.();
      expect(await until('closed', () => stopped.closed, 10_000)).toBe(1013);
      stop[2]?.();
      await until('the steady one has all', () => steady.events.length === 61, 60_000);
      expect(steady.closed).toBeUndefined();
      const since = encodeURIComponent((trickling.events.at(-1) as Frame).timestamp);
      const back = Client.open(path(id, `?resend_mode=since&after_timestamp=${since}`), auth());
      await until(
        'the rest',
        () => new Set([...trickling.events, ...back.events].map((event) => event.id)).size === 61,
      );
      back.socket.close();
    } finally {
      for (const each of stop) each();
      steady.socket.close();
    }
  });
});

/** Lets a client take this many bytes a second from its connection, until the answer is called. */
function trickle(client: Client, rate: number): () => void {
  const wire = (client.socket as unknown as { _socket: NetSocket })._socket;
  let due = performance.now();
  const read = (chunk: Buffer): void => {
    wire.pause();
    due = Math.max(due, performance.now()) + (chunk.length / rate) * 1_000;
  };
  wire.pause();
  wire.on('data', read);
  const timer = setInterval(() => {
    if (rate > 0 && performance.now() >= due) wire.resume();
  }, 20);
  return () => {
    clearInterval(timer);
    wire.off('data', read);
    wire.resume();
  };
}
