import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { SubscribeAnswer } from '@slipway/contracts/events';
import { until } from '@slipway/testing';
import { io, type Socket } from 'socket.io-client';
import { ConversationApp, thought, type User } from '../../testing/conversation-app.js';
import { bodyOf, ORG_REQUESTS, queryOf } from '../../testing/tenancy/requests.js';

jest.setTimeout(120_000);

/** What is about deleted conversations. */
const OF_THE_TRASH: ReadonlySet<string> = new Set(['deleteConversation', 'restoreConversation']);

describe('a deleted conversation', () => {
  let app: ConversationApp;
  let user: User;
  let id: string;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    app = await ConversationApp.start({
      replicas: 2,
      env: {
        RATE_READS_PER_MINUTE: '100000',
        RATE_WRITES_PER_MINUTE: '100000',
        RATE_STARTS_PER_MINUTE: '100000',
        SANDBOX_GATEWAY_URL: 'http://sandboxes.localhost:9',
        SANDBOX_ACCESS_SECRET: 'test-sandbox-access-test-sandbox-access',
      },
    });
    user = await app.user('Ada');
    id = (await app.conversation(user)).id;
    await app.started(id);
    await app.ingest(user, id, [{ producerSeq: 1, event: thought('canary in the log') }]);
  });
  afterAll(async () => {
    for (const socket of sockets) socket.close();
    await app?.close();
  });

  const connect = (replica: number): Socket => {
    const url = app.replicas[replica]?.url ?? '';
    const socket = io(url, {
      transports: ['websocket'],
      forceNew: true,
      reconnection: false,
      extraHeaders: { cookie: user.cookie, origin: url },
    });
    sockets.push(socket);
    return socket;
  };
  const subscribe = (socket: Socket): Promise<SubscribeAnswer> =>
    socket
      .timeout(20_000)
      .emitWithAck('subscribe', { orgId: user.orgId, conversationId: id, afterSeq: 0 }) as Promise<SubscribeAnswer>;

  it('is gone at every entrance, at once on open sockets and streams of every replica, and is there again when restored', async () => {
    const watching = [connect(0), connect(1)];
    const gone = [0, 0];
    for (const [index, socket] of watching.entries()) {
      socket.on('gone', (frame: { conversationId: string }) => {
        if (frame.conversationId === id) gone[index] = 1;
      });
      expect((await subscribe(socket)).ok).toBe(true);
    }
    const stream = await fetch(`${app.replicas[1]?.url}${app.path(user, id, '/events')}`, {
      headers: { cookie: user.cookie, accept: 'text/event-stream' },
    });
    const streamed = stream.text();

    expect((await app.http(user, 'DELETE', app.path(user, id))).status).toBe(204);
    await until('the sockets have heard', () => gone.every((each) => each === 1));
    expect(await streamed).toContain('canary in the log');
    for (const socket of watching) expect(await subscribe(socket)).toMatchObject({ code: 'resource.not-found' });

    const answers: string[] = [];
    for (const request of ORG_REQUESTS.filter(({ nouns }) => nouns.includes('conversation'))) {
      const { operation, name } = request;
      if (OF_THE_TRASH.has(name)) continue;
      const path = operation.path
        .replace('{org}', user.orgId)
        .replace('{conversation}', id)
        .replaceAll(/\{\w+\}/g, () => randomUUID())
        .concat(queryOf(name, {}));
      const { status, body } = await app.http(
        user,
        operation.method,
        path,
        bodyOf(request, { conversation: id, message: randomUUID() }),
      );
      // Ending what is not there is done.
      if (status !== 404 && !(operation.method === 'DELETE' && status === 204)) answers.push(`${name}: ${status}`);
      expect(JSON.stringify(body ?? '')).not.toContain('canary');
    }
    expect(answers).toEqual([]);
    for (const path of ['/api/conversations', `/api/v1/orgs/${user.orgId}/conversations?shown=all`])
      expect(JSON.stringify((await app.http(user, 'GET', path)).body)).not.toContain(id);

    expect((await app.http(user, 'POST', app.path(user, id, '/restore'))).status).toBe(200);
    expect((await app.http(user, 'GET', app.path(user, id))).status).toBe(200);
    for (const socket of watching) expect((await subscribe(socket)).ok).toBe(true);
  });

  it('is gone on the wire of OpenHands and for keys as well', async () => {
    expect((await app.http(user, 'DELETE', app.path(user, id))).status).toBe(204);
    const { body: key } = await app.http<{ key: string }>(user, 'POST', `/api/v1/orgs/${user.orgId}/api-keys`, {
      name: 'k',
      scopes: ['conversation:read', 'conversation:write', 'org:read'],
    });
    const ask = async (path: string) =>
      (
        await fetch(`${app.url}${path}`, {
          headers: { authorization: `Bearer ${key.key}` },
        })
      ).text();
    for (const path of [
      '/api/v1/sandboxes/search',
      '/api/conversations',
      `/api/v1/orgs/${user.orgId}/conversations`,
      `/api/v1/orgs/${user.orgId}/conversations/${id}`,
    ])
      expect((await ask(path)).replaceAll(`/conversations/${id}`, '')).not.toContain(id);
  });

  it('is deleted for good at once where that is asked for, also out of the trash', async () => {
    expect((await app.http(user, 'DELETE', `${app.path(user, id)}?permanently=true`)).status).toBe(204);
    expect((await app.http(user, 'POST', app.path(user, id, '/restore'))).status).toBe(404);
    const { rows } = await app.owner.query('SELECT queue FROM app.outbox WHERE key = $1', [id]);
    expect(rows).toEqual([{ queue: 'conversation-delete' }]);
  });
});
