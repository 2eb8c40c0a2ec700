import { randomUUID } from 'node:crypto';
import type { Socket as NetSocket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type ConversationEvent,
  type DeltaFrame,
  type EventsFrame,
  type ResumeFrame,
  SOCKET_MAX_BYTES,
  type SubscribeAnswer,
} from '@slipway/contracts/events';
import { ConversationWatcher, stopwatch, until } from '@slipway/testing';
import { io, type Socket } from 'socket.io-client';
import { ConversationApp, executionStatus, thought, type User } from '../../testing/conversation-app.js';
import type { TestApp } from '../../testing/test-app.js';

describe('realtime', () => {
  let app: ConversationApp;
  let user: User;
  const open: Array<{ close(): void }> = [];

  const replica = (index: number): string => app.replicas[index]?.url ?? '';
  const watch = (id: string, index = 0): ConversationWatcher => {
    const watcher = new ConversationWatcher(replica(index), user.cookie, { orgId: user.orgId, conversationId: id });
    open.push(watcher);
    return watcher;
  };
  const connect = (options: { cookie?: string; origin?: string; index?: number } = {}): Socket => {
    const url = replica(options.index ?? 0);
    const socket = io(url, {
      path: '/socket.io',
      transports: ['websocket'],
      forceNew: true,
      reconnection: false,
      extraHeaders: { cookie: options.cookie ?? user.cookie, origin: options.origin ?? url },
    });
    open.push(socket);
    return socket;
  };
  const subscribe = (socket: Socket, id: string, afterSeq = 0, orgId = user.orgId): Promise<SubscribeAnswer> =>
    socket
      .timeout(20_000)
      .emitWithAck('subscribe', { orgId, conversationId: id, afterSeq }) as Promise<SubscribeAnswer>;
  const started = async (): Promise<string> => {
    const { id } = await app.conversation(user);
    await app.started(id);
    return id;
  };
  const append = async (
    id: string,
    from: number,
    count: number,
    options: { size?: number; index?: number } = {},
  ): Promise<void> => {
    const answer = await app.ingest(
      user,
      id,
      Array.from({ length: count }, (_, index) => ({
        producerSeq: from + index,
        event: thought(`${from + index} ${'x'.repeat(options.size ?? 0)}`),
      })),
      1,
      options.index ?? 0,
    );
    expect(answer.status).toBe(200);
  };
  /** As the worker appends, when its hint is lost. */
  const appendWithoutHint = async (id: string, event: ConversationEvent): Promise<void> => {
    await app.pool.query(
      `SELECT * FROM app.append_events($1, $2, NULL, NULL, $3::bigint[], $4::uuid[], $5::text[], $6::text[], '{}')`,
      [user.orgId, id, [null], [event.id], [event.kind], [JSON.stringify(event)]],
    );
  };

  beforeAll(async () => {
    app = await ConversationApp.start({ replicas: 2 });
    user = await app.user();
  });
  afterAll(async () => {
    for (const each of open) each.close();
    await app?.close();
  });

  it('every reader ends with the log of the database, whatever connections break meanwhile, on both replicas', async () => {
    const id = await started();
    const readers = Array.from({ length: 24 }, (_, index) => watch(id, index % 2));
    let random = 7;
    const chance = (): number => {
      random = (random * 1_103_515_245 + 12_345) % 2_147_483_648;
      return random / 2_147_483_648;
    };
    const total = 1_500;
    let sent = 0;
    while (sent < total) {
      const count = Math.min(1 + Math.floor(chance() * 40), total - sent);
      await append(id, sent + 1, count, { index: chance() < 0.5 ? 0 : 1 });
      sent += count;
      if (chance() < 0.1) await appendWithoutHint(id, thought('of the platform'));
      for (const reader of readers) if (chance() < 0.05) reader.drop();
      if (chance() < 0.1) readers.push(watch(id, Math.floor(chance() * 2)));
    }
    const log = await app.log(id);
    expect(log.map(({ seq }) => seq)).toEqual(Array.from({ length: log.length }, (_, index) => index + 1));
    await until('all readers at the end', () => readers.every((reader) => reader.lastSeq === log.length), 60_000);
    const expected = log.map(({ seq, event }) => ({ conversationId: id, epoch: 1, seq, event }));
    for (const reader of readers) {
      expect(reader.log.length).toBe(expected.length);
      expect(reader.log).toEqual(expected);
      expect(reader.gaps).toBe(0);
    }
    expect(readers.reduce((sum, reader) => sum + reader.reconnects, 0)).toBeGreaterThan(20);
    for (const reader of readers) reader.close();
  });

  it('an event reaches readers of another replica by its hint, and within five seconds when the hint is lost', async () => {
    const id = await started();
    const readers = [watch(id, 0), watch(id, 1)];
    await append(id, 1, 1);
    await until('both', () => readers.every((reader) => reader.lastSeq === 1));
    const passed = stopwatch();
    await append(id, 2, 1);
    await until('by hint', () => readers.every((reader) => reader.lastSeq === 2));
    // Sooner than the head check would find it.
    expect(passed()).toBeLessThan(2_500);
    await appendWithoutHint(id, thought('unannounced'));
    await until('by the look at the heads', () => readers.every((reader) => reader.lastSeq === 3), 8_000);
  });

  it('subscribing again moves the cursor, and lines come once each from there', async () => {
    const id = await started();
    await append(id, 1, 120);
    const socket = connect();
    const seqs: number[] = [];
    socket.on('events', (frame: EventsFrame) => void seqs.push(...frame.events.map(({ seq }) => seq)));
    expect(await subscribe(socket, id, 118)).toEqual({ ok: true, head: 120 });
    await until('the end', () => seqs.length === 2);
    expect(await subscribe(socket, id, 0)).toEqual({ ok: true, head: 120 });
    await until('all of it', () => seqs.length === 122);
    expect(seqs).toEqual([119, 120, ...Array.from({ length: 120 }, (_, index) => index + 1)]);
    await append(id, 121, 1);
    await until('live, once', () => seqs.at(-1) === 121);
    expect(seqs.length).toBe(123);
    socket.emit('unsubscribe', { conversationId: id });
    expect(await subscribe(socket, id, 500)).toMatchObject({ ok: false, code: 'request.invalid' });
  });

  it('refuses who is not signed in, another site, and a foreign conversation exactly as a missing one', async () => {
    const anonymous = connect({ cookie: 'keycloak_auth=none' });
    const error = await new Promise<Error & { data?: { code?: string } }>((resolve) =>
      anonymous.once('connect_error', resolve),
    );
    expect(error.data?.code).toBe('auth.missing');
    const elsewhere = connect({ origin: 'https://evil.example' });
    await new Promise((resolve) => elsewhere.once('connect_error', resolve));
    expect(elsewhere.connected).toBe(false);
    const stranger = await app.user();
    const foreign = (await app.conversation(stranger)).id;
    const socket = connect();
    const answers = [
      await subscribe(socket, foreign),
      await subscribe(socket, randomUUID()),
      await subscribe(socket, foreign, 0, stranger.orgId),
      await subscribe(socket, foreign, 0, 'org_nothing'),
    ];
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ ok: false, code: 'resource.not-found' });
  });

  it('outlives frames that make no sense', async () => {
    const id = await started();
    const socket = connect();
    for (const body of [
      null,
      7,
      'x',
      [],
      {},
      { orgId: 1, conversationId: id, afterSeq: -1 },
      { orgId: user.orgId, conversationId: 'x', afterSeq: 0 },
    ]) {
      socket.emit('subscribe', body);
      expect(await socket.timeout(20_000).emitWithAck('subscribe', body)).toMatchObject({
        ok: false,
        code: 'request.invalid',
      });
      socket.emit('unsubscribe', body);
    }
    socket.emit('subscribe');
    socket.emit('no such event', { a: 1 });
    expect(await subscribe(socket, id)).toMatchObject({ ok: true });
    const flooding = connect();
    await new Promise<void>((resolve) => flooding.once('connect', () => resolve()));
    flooding.emit('subscribe', { text: 'x'.repeat(100_000) });
    await until('the flooding one is closed', () => !flooding.connected);
    expect(await subscribe(socket, id)).toMatchObject({ ok: true });
  });

  it('within a second of the sign-out, or of a lost membership, a socket gets nothing more', async () => {
    const id = await started();
    for (const revoke of [
      'DELETE FROM app.session WHERE user_id = $1',
      'DELETE FROM app.membership WHERE user_id = $1',
    ]) {
      const other = await app.user();
      await app.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'viewer')`, [
        user.orgId,
        other.userId,
      ]);
      const socket = connect({ cookie: other.cookie });
      expect(await subscribe(socket, id)).toMatchObject({ ok: true });
      await app.owner.query(revoke, [other.userId]);
      await until('the end of the socket', () => !socket.connected, 4_000);
    }
  });

  it('a reader that does not read delays no other, keeps little memory, and gets every line when it reads again', async () => {
    const id = await started();
    const slow = connect();
    const seen: number[] = [];
    slow.on('events', (frame: EventsFrame) => void seen.push(...frame.events.map(({ seq }) => seq)));
    expect(await subscribe(slow, id)).toMatchObject({ ok: true });
    const wire = (slow.io.engine.transport as unknown as { ws: { _socket: NetSocket } }).ws._socket;
    wire.pause();
    const quick = watch(id);
    await until('the quick one is there', () => quick.reconnects === 0);
    const lines = 2_000;
    for (let from = 1; from <= lines; from += 100) await append(id, from, 100, { size: 12_000 });
    await until('the quick one has all', () => quick.lastSeq === lines, 60_000);
    expect(seen.length).toBeLessThan(lines);
    const unsent = app.unsentBytes();
    expect(unsent).toBeLessThan(SOCKET_MAX_BYTES);
    wire.resume();
    await until('the slow one has all', () => seen.length >= lines, 60_000);
    expect(seen).toEqual(Array.from({ length: lines }, (_, index) => index + 1));
    await append(id, lines + 1, 1);
    await until('and is live again', () => seen.at(-1) === lines + 1);
    quick.close();
  });

  /** As the agent does while its model writes. */
  const writing =
    (id: string) =>
    async (...pieces: Array<{ offset: number; text: string }>): Promise<void> => {
      const response = await fetch(`${app.url}/ingest/v1/conversations/${id}/deltas`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${await app.token(user, id)}` },
        body: JSON.stringify({
          epoch: 1,
          deltas: pieces.map((piece) => ({ responseId: 'r1', channel: 'content', ...piece })),
        }),
      });
      expect(response.status).toBe(204);
    };
  const text = (watcher: { deltas: readonly DeltaFrame[] }): string =>
    watcher.deltas.reduce((whole, { delta }) => whole.slice(0, delta.offset) + delta.text, '');

  it('text that was begun without viewers is whole for a new one, or reloads the page, on every replica; and gone after its event', async () => {
    const id = await started();
    const deltas = writing(id);
    await append(id, 1, 1);
    await deltas({ offset: 0, text: 'Hello, ' });
    await deltas({ offset: 7, text: 'world' });
    const watchers = [watch(id, 0), watch(id, 1)];
    await until('the whole', () => watchers.every((watcher) => text(watcher) === 'Hello, world'));
    for (const watcher of watchers) watcher.close();
    await app.ingest(user, id, [{ producerSeq: 2, event: { ...thought('Hello, world'), llm_response_id: 'r1' } }]);
    const after = [watch(id, 0), watch(id, 1)];
    await until('the event', () => after.every((watcher) => watcher.lastSeq === 2));
    await append(id, 3, 1);
    await until('the next event', () => after.every((watcher) => watcher.lastSeq === 3));
    expect(after.map(({ deltas: none }) => none)).toEqual([[], []]);
  });

  it('text that is being written comes beside the log: joined, whole for who comes late, and not after its event', async () => {
    const id = await started();
    const deltas = writing(id);
    const [near, far] = [watch(id, 0), watch(id, 1)];
    await append(id, 1, 1);
    await until('both live', () => near.lastSeq === 1 && far.lastSeq === 1);
    await deltas(...Array.from('Hello, ', (character, offset) => ({ offset, text: character })));
    await until('the first piece', () => text(near) === 'Hello, ' && text(far) === 'Hello, ');
    expect(near.deltas.length).toBeLessThan(4);
    const late = watch(id, 0);
    await until('the whole for who comes late', () => text(late) === 'Hello, ');
    await deltas({ offset: 7, text: 'world' });
    await until('the rest', () => [near, far, late].every((watcher) => text(watcher) === 'Hello, world'));
    await app.ingest(user, id, [{ producerSeq: 2, event: { ...thought('Hello, world'), llm_response_id: 'r1' } }]);
    await until('the event', () => [near, far, late].every((watcher) => watcher.lastSeq === 2));
    const after = watch(id, 0);
    await until('who comes after', () => after.lastSeq === 2);
    await deltas({ offset: 12, text: ' ghost' });
    await append(id, 3, 1);
    await until('the next event', () => [near, far, late, after].every((watcher) => watcher.lastSeq === 3));
    expect(after.deltas).toEqual([]);
    expect(text(near)).toBe('Hello, world');
  });

  it('the progress of a tool is not shown to readers who come after its call, or the run, has ended', async () => {
    const id = await started();
    const said = { id: randomUUID(), timestamp: '2026-01-01T00:00:00.000Z' };
    const failed: ConversationEvent = {
      ...said,
      kind: 'AgentErrorEvent',
      source: 'agent',
      tool_name: 'mcp',
      tool_call_id: 'c1',
      error: 'It failed.',
    };
    let seq = 1;
    const during = watch(id, 0);
    await append(id, 1, 1);
    await until('live', () => during.lastSeq === 1);
    for (const ending of [failed, executionStatus('finished')]) {
      const response = await fetch(`${app.url}/ingest/v1/conversations/${id}/deltas`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${await app.token(user, id)}` },
        body: JSON.stringify({
          epoch: 1,
          deltas: [{ responseId: `call-${seq}`, channel: 'progress', offset: 0, text: 'half of it\n' }],
        }),
      });
      expect(response.status).toBe(204);
      await until('viewers receive it', () => during.deltas.at(-1)?.delta.responseId === `call-${seq}`);
      const late = watch(id, 0);
      await until('who comes meanwhile too', () => late.deltas.at(-1)?.delta.text === 'half of it\n');
      seq += 1;
      await app.ingest(user, id, [{ producerSeq: seq, event: ending }]);
      await until('the end', () => during.lastSeq === seq);
      const after = watch(id, 0);
      await until('who comes after has the log', () => after.lastSeq === seq);
      await append(id, seq + 1, 1);
      seq += 1;
      await until('and what follows', () => after.lastSeq === seq);
      expect(after.deltas).toEqual([]);
    }
  });

  it('the inbox is shown on every replica when it changes, and empties as messages enter the log', async () => {
    const id = await started();
    const readers = [watch(id, 0), watch(id, 1)];
    await until('the first message', () => readers.every(({ inbox }) => inbox.length === 1));
    const message = { id: randomUUID(), text: 'next' };
    await app.http(user, 'POST', app.path(user, id, '/messages'), message);
    await until('the second', () => readers.every(({ inbox }) => inbox.length === 2));
    await app.http(user, 'DELETE', app.path(user, id, `/messages/${message.id}`));
    await until('taken back', () => readers.every(({ inbox }) => inbox.length === 1));
    const first = readers[0]?.inbox[0]?.id ?? '';
    await app.ingest(user, id, [{ producerSeq: 1, event: { ...thought('Do something', first), source: 'user' } }]);
    await until('taken in', () => readers.every(({ inbox }) => inbox.length === 0));
  });

  it('the inbox that changed while no hint came is shown as soon as hints come again', async () => {
    const id = await started();
    const reader = watch(id, 0);
    await until('the first message', () => reader.inbox.length === 1);
    // No hint of it is published, as when it is lost.
    await app.owner.query(
      `INSERT INTO app.inbox_message (id, org_id, conversation_id, text, created_by, created_by_label)
       SELECT gen_random_uuid(), org_id, conversation_id, 'pending', created_by, created_by_label FROM app.inbox_message WHERE conversation_id = $1 LIMIT 1`,
      [id],
    );
    expect(reader.inbox.length).toBe(1);
    await app.owner.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'app-server-hints' AND datname = current_database()",
    );
    await until('the second', () => reader.inbox.length === 2);
  });

  it('a server that stops gives each reader its resume point, and loses nothing', async () => {
    const id = await started();
    await append(id, 1, 5, { index: 0 });
    const socket = connect({ index: 1 });
    const history = new Promise((resolve) => socket.once('events', resolve));
    expect(await subscribe(socket, id)).toMatchObject({ ok: true });
    await history;
    const resumed = new Promise<ResumeFrame>((resolve) => socket.once('resume', resolve));
    const ended = (app.replicas.pop() as TestApp).close();
    expect(await resumed).toEqual({ conversationId: id, code: 'draining', afterSeq: 5 });
    await until('the socket is closed', () => !socket.connected);
    await ended;
  });
});
