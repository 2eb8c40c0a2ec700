import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { THROUGH_GATEWAY_HEADER } from '@slipway/contracts/sandboxes';
import { until } from '@slipway/testing';
import { AgentClient } from './agent-client.js';
import { TestAgent } from './test-agent.js';

const STREAM = { maxBytes: 100, timeoutMs: 20_000, headTimeoutMs: 20_000 };

describe('a client of agent-server', () => {
  let server: TestAgent;
  let agent: AgentClient;
  beforeAll(async () => {
    server = await new TestAgent().start();
    agent = server.client();
  });
  beforeEach(() => {
    server.seen.length = 0;
    server.respond = (_request, response) => void response.end('{}');
  });
  afterAll(() => server?.close());

  const errorOf = (call: Promise<unknown>) =>
    call.then(
      () => null,
      (error: { code?: string; detail?: string; failure?: unknown }) => ({
        code: error.code,
        detail: error.detail,
        failure: error.failure,
      }),
    );
  const changes = (options = {}) => agent.text('changes', { query: { path: '/w' } }, options);

  it('puts parameters, query and body where the entry of the route has them', async () => {
    await agent
      .call('askAgent', { id: 'a/b', body: { question: 'why?' }, headers: { 'x-slipway-charge-pass': 'p' } })
      .catch(() => {});
    await agent.text('patch', { query: { path: '/a b', base: null, turn: undefined, max_bytes: 5 } });
    expect(server.seen).toMatchObject([
      {
        route: 'POST /api/conversations/a%2Fb/ask_agent',
        body: { question: 'why?' },
        headers: { 'x-slipway-charge-pass': 'p' },
      },
      { route: 'GET /api/git/patch?path=%2Fa%20b&max_bytes=5', body: null },
    ]);
  });

  it('shows its keys, asks for no compression, and adds the headers of the entry', async () => {
    await agent.call('run', { id: 'c' });
    await agent.call('info', {});
    expect(server.seen[0]?.headers).toMatchObject({
      'x-session-api-key': 'session',
      'x-slipway-caller-key': 'app',
      [THROUGH_GATEWAY_HEADER]: 'app',
      'accept-encoding': 'identity',
    });
    expect(server.seen[1]?.headers['x-session-api-key']).toBeUndefined();
  });

  it('keeps no connection', async () => {
    await agent.call('interrupt', { id: 'c' });
    await until('the connection is gone', async () => (await server.connections) === 0);
    expect(server.seen[0]?.headers.connection).toBe('close');
  });

  it('passes on a refusal that the entry lists, in our words where we have them', async () => {
    server.refuse(409, 'conversation.busy', { detail: 'x'.repeat(3_000) });
    expect((await errorOf(agent.call('run', { id: 'c' })))?.detail).toBe('x'.repeat(2_000));
    server.refuse(409, 'conversation.awaits-confirmation');
    expect(await errorOf(agent.call('run', { id: 'c' }))).toEqual({
      code: 'conversation.awaits-confirmation',
      detail: 'The agent waits for a yes or a no to what it asks for.',
      failure: { kind: 'answered', status: 409, code: 'conversation.awaits-confirmation' },
    });
  });

  it('passes on no other refusal, and keeps what is known of it', async () => {
    for (const [status, code] of [
      [401, 'auth.missing'],
      [404, 'resource.not-found'],
      [409, 'changes.turn-unknown'],
    ] as const) {
      server.refuse(status, code);
      expect(await errorOf(agent.call('interrupt', { id: 'c' }))).toEqual({
        code: 'sandbox.unreachable',
        detail: 'The sandbox refused the request.',
        failure: { kind: 'answered', status, code },
      });
    }
    server.refuse(500, null);
    expect((await errorOf(changes()))?.failure).toEqual({ kind: 'answered', status: 500, code: null });
  });

  it('ends an answer beyond its bound, and one that the memory budget has no room for', async () => {
    server.respond = (_request, response) => void response.end('x'.repeat(2_000));
    expect(await errorOf(changes())).toMatchObject({
      code: 'file.too-large',
      detail: expect.stringContaining('The sandbox answered with more than'),
    });
    expect((await errorOf(changes({ maxBytes: 4_000, slot: { take: () => false } })))?.code).toBe(
      'service.unavailable',
    );
    expect(await changes({ maxBytes: 4_000 })).toHaveLength(2_000);
  });

  it('reads no compressed answer, and none in another form than the entry’s', async () => {
    const unreadable = {
      code: 'sandbox.unreachable',
      detail: 'The sandbox gave an answer that cannot be read.',
      failure: { kind: 'broken' },
    };
    server.respond = (_request, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('x');
    expect(await errorOf(changes())).toEqual(unreadable);
    for (const answer of ['', 'no JSON', '{"repositories":"none"}']) {
      server.respond = (_request, response) => void response.end(answer);
      expect(await errorOf(agent.call('repositories', { query: { path: '.' } }))).toEqual(unreadable);
    }
  });

  it('waits no longer than its time limit for the last byte, and says how the call failed', async () => {
    server.respond = (_request, response) => void response.write('half');
    expect(await errorOf(changes({ timeoutMs: 300 }))).toEqual({
      code: 'sandbox.unreachable',
      detail: 'The sandbox did not answer within 1 s.',
      failure: { kind: 'timeout' },
    });
    server.respond = (_request, response) => void response.destroy();
    expect((await errorOf(changes()))?.failure).toEqual({ kind: 'broken' });
    const gone = await new TestAgent().start();
    const client = gone.client();
    await gone.close();
    expect((await errorOf(client.call('interrupt', { id: 'c' })))?.failure).toEqual({ kind: 'unreachable' });
  });

  it('rejects with the reason of the caller’s signal', async () => {
    server.respond = () => {};
    const end = new AbortController();
    const call = changes({ signal: end.signal });
    await until('the request is there', () => server.seen.length === 1);
    end.abort(new Error('over'));
    await expect(call).rejects.toThrow('over');
    await expect(changes({ signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before');
    expect(server.seen).toHaveLength(1);
  });

  describe('as a stream', () => {
    const patch = (options = STREAM) => agent.stream('patch', { query: { path: '/w' } }, options);

    it('passes the answer on', async () => {
      server.respond = (_request, response) => void response.end('diff');
      expect(await text(await patch())).toBe('diff');
    });

    it('breaks off beyond its bound, and when the sandbox does', async () => {
      server.respond = (_request, response) => void response.end('x'.repeat(200));
      await expect(text(await patch())).rejects.toMatchObject({ code: 'file.too-large' });
      server.respond = (_request, response) =>
        void response.writeHead(200, { 'content-length': 50 }).write('half', () => response.destroy());
      await expect(patch().then(text)).rejects.toBeInstanceOf(Error);
    });

    it('breaks off at its time limits', async () => {
      server.respond = () => {};
      expect((await errorOf(patch({ ...STREAM, headTimeoutMs: 300 })))?.failure).toEqual({ kind: 'timeout' });
      server.respond = (_request, response) => void response.writeHead(200).write('half');
      await expect(text(await patch({ ...STREAM, timeoutMs: 500 }))).rejects.toBeInstanceOf(Error);
    });

    it('ends the call when its reader goes away', async () => {
      let isClosed = false;
      server.respond = (_request, response) => {
        response.on('close', () => {
          isClosed = true;
        });
        response.write('half');
      };
      const body = await patch();
      body.on('error', () => {}).destroy();
      await until('the answer has ended', () => isClosed);
    });
  });
});
