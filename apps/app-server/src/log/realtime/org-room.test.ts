import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DeskFrame, MarkFrame, SubscribeOrgAnswer } from '@slipway/contracts/events';
import { until } from '@slipway/testing';
import { io, type Socket } from 'socket.io-client';
import { ConversationApp, executionStatus, riskyCommand, type User } from '../../testing/conversation-app.js';

describe('the live room of an organization', () => {
  let app: ConversationApp;
  let ada: User;
  let ben: User;
  const open: Socket[] = [];
  beforeAll(async () => {
    app = await ConversationApp.start({ replicas: 2 });
    ada = await app.user('Ada');
    ben = await colleague('Ben', 'viewer');
  });
  afterAll(async () => {
    for (const each of open) each.close();
    await app?.close();
  });

  async function colleague(name: string, role: string): Promise<User> {
    const user = { ...(await app.user(name)), orgId: ada.orgId };
    await app.owner.query('INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, $3)', [
      ada.orgId,
      user.userId,
      role,
    ]);
    return user;
  }

  interface Watcher {
    readonly socket: Socket;
    readonly frames: DeskFrame[];
    readonly marks: MarkFrame[];
    readonly answer: SubscribeOrgAnswer;
  }
  async function watch(user: User, replica = 0, orgId = user.orgId): Promise<Watcher> {
    const url = app.replicas[replica]?.url ?? '';
    const socket = io(url, {
      path: '/socket.io',
      transports: ['websocket'],
      forceNew: true,
      reconnection: false,
      extraHeaders: { cookie: user.cookie, origin: url },
    });
    open.push(socket);
    const frames: DeskFrame[] = [];
    const marks: MarkFrame[] = [];
    socket.on('desk', (frame: DeskFrame) => frames.push(frame)).on('mark', (frame: MarkFrame) => marks.push(frame));
    const answer = (await socket.timeout(20_000).emitWithAck('subscribe_org', { orgId })) as SubscribeOrgAnswer;
    return { socket, frames, marks, answer };
  }
  const last = (watcher: Watcher, id: string) =>
    watcher.frames.flatMap(({ changed }) => changed).findLast((each) => each.id === id);

  async function waiting(replica = 0): Promise<{ id: string; actionId: string }> {
    const { id } = await app.conversation(ada);
    await app.started(id);
    const action = riskyCommand();
    const events = [executionStatus('running'), action, executionStatus('waiting_for_confirmation')];
    await app.ingest(
      ada,
      id,
      events.map((event, index) => ({ producerSeq: index + 1, event })),
      1,
      replica,
    );
    return { id, actionId: action.id };
  }

  it('a change of status is on every screen of the organization within a second, on every replica, with who answered', async () => {
    const watchers = [await watch(ada, 0), await watch(ben, 1)];
    expect(watchers.map(({ answer }) => answer)).toEqual([{ ok: true }, { ok: true }]);
    const { id, actionId } = await waiting();
    const asked = performance.now();
    await until('it waits everywhere', () => watchers.every((each) => last(each, id)?.approval?.actionId === actionId));
    expect(performance.now() - asked).toBeLessThan(1_000);
    expect(watchers.map((each) => last(each, id)?.status)).toEqual(['waiting', 'waiting']);
    const answered = await app.http(ada, 'POST', app.path(ada, id, '/confirmation'), {
      accept: false,
      actionIds: [actionId],
    });
    expect(answered.status).toBe(200);
    const since = performance.now();
    await until('it is answered everywhere', () =>
      watchers.every((each) => last(each, id)?.approval === null && last(each, id)?.answered?.by === 'Ada'),
    );
    expect(performance.now() - since).toBeLessThan(1_000);
  });

  it('a read mark reaches the other devices of its user and nobody else', async () => {
    const [desk, phone, other] = [await watch(ada, 0), await watch(ada, 1), await watch(ben, 1)];
    const { id } = await waiting();
    await app.http(ada, 'PUT', app.path(ada, id, '/read-mark'), { seq: 2 });
    await until('both devices have it', () => [desk, phone].every(({ marks }) => marks.at(-1)?.mark.seq === 2));
    expect([desk.marks.at(-1)?.conversationId, other.marks]).toEqual([id, []]);
  });

  it('a foreign organization is as one that does not exist, and nothing of it is sent', async () => {
    const stranger = await app.user('Stranger');
    const [foreign, missing] = [await watch(stranger, 0, ada.orgId), await watch(stranger, 0, 'org_missing')];
    expect(foreign.answer).toMatchObject({ ok: false, code: 'resource.not-found' });
    expect(foreign.answer).toEqual(missing.answer);
    const own = await watch(stranger);
    const colleagues = await watch(ben);
    const { id } = await waiting();
    await until('who may see it has it', () => last(colleagues, id) !== undefined);
    expect([foreign.frames, missing.frames, own.frames.filter(({ orgId }) => orgId === ada.orgId)]).toEqual([
      [],
      [],
      [],
    ]);
  });

  it('ends within a second of a lost membership or a sign-out', async () => {
    const [removed, signedOut] = [await colleague('Removed', 'member'), await colleague('Gone', 'member')];
    const watchers = [await watch(removed), await watch(signedOut, 1)];
    await app.owner.query('DELETE FROM app.membership WHERE org_id = $1 AND user_id = $2', [ada.orgId, removed.userId]);
    await app.owner.query('DELETE FROM app.session WHERE id = $1', [signedOut.sessionId]);
    const since = performance.now();
    await until('both are closed', () => watchers.every(({ socket }) => !socket.connected));
    expect(performance.now() - since).toBeLessThan(2_000);
    const seen = watchers.map(({ frames }) => frames.length);
    await waiting();
    const still = await watch(ben);
    const { id } = await waiting();
    await until('others still see', () => last(still, id) !== undefined);
    expect(watchers.map(({ frames }) => frames.length)).toEqual(seen);
  });

  it('what no hint named is found by itself', async () => {
    const watcher = await watch(ada);
    const { id } = await waiting();
    await until('it is there', () => last(watcher, id) !== undefined);
    // Committed by somebody whose hint is lost.
    await app.owner.query(
      "UPDATE app.conversation SET head = head + 1, title = 'Renamed', updated_at = now() WHERE id = $1",
      [id],
    );
    await until('it is read again', () => last(watcher, id)?.title === 'Renamed');
  });

  it('sends nothing to who has left it', async () => {
    const [left, stays] = [await watch(ada), await watch(ada)];
    left.socket.emit('unsubscribe_org', { orgId: ada.orgId });
    // Answered after what came before it on the same connection.
    await left.socket.timeout(20_000).emitWithAck('subscribe_org', { orgId: 'org_missing' });
    const { id } = await waiting();
    await until('the other has it', () => last(stays, id) !== undefined);
    expect(last(left, id)).toBeUndefined();
  });
});
