import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ConfirmAnswer, ConversationEvent } from '@slipway/contracts/events';
import { ConversationWatcher, until } from '@slipway/testing';
import { io, type Socket } from 'socket.io-client';
import { ConversationApp, executionStatus, riskyCommand, type User } from '../../testing/conversation-app.js';

describe('an answer to an agent over a socket', () => {
  let app: ConversationApp;
  let ada: User;
  const open: Array<{ close(): void }> = [];
  beforeAll(async () => {
    app = await ConversationApp.start({ replicas: 2 });
    ada = await app.user('Ada');
  });
  afterAll(async () => {
    for (const each of open) each.close();
    await app?.close();
  });

  const connect = (user: User, replica = 0): Socket => {
    const url = app.replicas[replica]?.url ?? '';
    const socket = io(url, {
      path: '/socket.io',
      transports: ['websocket'],
      forceNew: true,
      reconnection: false,
      extraHeaders: { cookie: user.cookie, origin: url },
    });
    open.push(socket);
    return socket;
  };
  const confirm = (
    socket: Socket,
    id: string,
    actionIds: readonly string[],
    accept = true,
    orgId = ada.orgId,
  ): Promise<ConfirmAnswer> =>
    socket
      .timeout(20_000)
      .emitWithAck('confirm', { orgId, conversationId: id, accept, actionIds }) as Promise<ConfirmAnswer>;
  /** A conversation whose agent waits, and whose sandbox is paused: answers go into the log. */
  async function waiting(): Promise<{ id: string; actionIds: string[] }> {
    const { id } = await app.conversation(ada);
    await app.started(id);
    const actionId = randomUUID();
    await app.ingest(ada, id, [
      { producerSeq: 1, event: executionStatus('running') },
      { producerSeq: 2, event: riskyCommand(actionId) },
      { producerSeq: 3, event: executionStatus('waiting_for_confirmation') },
    ]);
    await app.owner.query("UPDATE app.conversation SET desired = 'rest', sandbox_status = 'PAUSED' WHERE id = $1", [
      id,
    ]);
    return { id, actionIds: [actionId] };
  }

  it('counts once, whether it came by a socket of either replica or by a request; every other gets a conflict, and viewers see the one', async () => {
    const { id, actionIds } = await waiting();
    const watcher = new ConversationWatcher(app.url, ada.cookie, { orgId: ada.orgId, conversationId: id });
    open.push(watcher);
    const sockets = [connect(ada), connect(ada, 1)];
    const request = async (): Promise<ConfirmAnswer> => {
      const { status, body } = await app.http<{ code: string; detail: string }>(
        ada,
        'POST',
        app.path(ada, id, '/confirmation'),
        { accept: true, actionIds },
      );
      return status === 200 ? { ok: true } : { ok: false, ...body };
    };
    const answers = await Promise.all([
      ...sockets.map((socket, index) => confirm(socket, id, actionIds, index === 0)),
      request(),
    ]);
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    for (const answer of answers) if (!answer.ok) expect(answer.code).toBe('conversation.nothing-to-confirm');
    const said = (event: ConversationEvent): boolean =>
      event.kind === 'ConversationStateUpdateEvent' && event.key === 'confirmation';
    await until('the answer on the screen', () => watcher.log.some(({ event }) => said(event)), 30_000);
    expect((await app.log(id)).filter(({ event }) => said(event))).toHaveLength(1);
  });

  it('is held to four eyes, and to what may be done and known', async () => {
    const { id, actionIds } = await waiting();
    const eve = await app.user('Eve');
    const [mine, hers] = [connect(ada), connect(eve)];
    await app.owner.query(`UPDATE app.org SET settings = settings || '{"fourEyes": true}' WHERE id = $1`, [ada.orgId]);
    expect(await confirm(mine, id, actionIds)).toMatchObject({ ok: false, code: 'conversation.four-eyes' });
    const [foreign, missing] = [
      await confirm(hers, id, actionIds, true, eve.orgId),
      await confirm(hers, randomUUID(), actionIds, true, eve.orgId),
    ];
    expect(foreign).toEqual(missing);
    expect(foreign).toMatchObject({ ok: false, code: 'resource.not-found' });
    expect(await confirm(hers, id, actionIds)).toMatchObject({ ok: false, code: 'resource.not-found' });
    expect(await confirm(mine, id, [])).toMatchObject({ ok: false, code: 'request.invalid' });
    await app.owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'viewer')", [
      ada.orgId,
      eve.userId,
    ]);
    const refused = await until(
      'her membership to be known',
      async () => {
        const answer = await confirm(hers, id, actionIds);
        return !answer.ok && answer.code !== 'resource.not-found' ? answer : null;
      },
      30_000,
    );
    expect(refused).toMatchObject({ code: 'permission.denied' });
    await app.owner.query("UPDATE app.membership SET role = 'member' WHERE org_id = $1 AND user_id = $2", [
      ada.orgId,
      eve.userId,
    ]);
    await until(
      'her answer',
      async () => {
        const answer = await confirm(hers, id, actionIds);
        return answer.ok || answer.code !== 'permission.denied' ? answer.ok : null;
      },
      30_000,
    );
    await app.owner.query(`UPDATE app.org SET settings = settings || '{"fourEyes": false}' WHERE id = $1`, [ada.orgId]);
    expect(
      (await app.log(id)).filter(
        ({ event }) => event.kind === 'ConversationStateUpdateEvent' && event.key === 'confirmation',
      ),
    ).toHaveLength(1);
  });
});
