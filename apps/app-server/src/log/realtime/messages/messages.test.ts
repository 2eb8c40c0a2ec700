import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Module, UseFilters } from '@nestjs/common';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { io, type Socket } from 'socket.io-client';
import { FEATURES } from '../../../app.module.js';
import { ConversationApp, type User } from '../../../testing/conversation-app.js';
import { RefusalFilter } from './refusal.filter.js';

/** As a developer would write it who forgets that a handler says who may call it. */
@WebSocketGateway({ path: '/socket.io' })
@UseFilters(RefusalFilter)
class ForgetfulGateway {
  @SubscribeMessage('forgotten')
  forgotten(): string {
    return 'open by omission';
  }
}

@Module({ providers: [ForgetfulGateway] })
class ForgetfulModule {}

describe('a message of a socket', () => {
  let app: ConversationApp;
  let ada: User;
  const open: Socket[] = [];
  beforeAll(async () => {
    app = await ConversationApp.start({ features: [...FEATURES, ForgetfulModule] });
    ada = await app.user('Ada');
  });
  afterAll(async () => {
    for (const socket of open) socket.close();
    await app?.close();
  });

  const connect = (): Socket => {
    const socket = io(app.url, {
      transports: ['websocket'],
      forceNew: true,
      reconnection: false,
      extraHeaders: { cookie: ada.cookie, origin: new URL(app.url).origin },
    });
    open.push(socket);
    return socket;
  };
  const ask = (socket: Socket, name: string, body?: unknown): Promise<unknown> =>
    socket.timeout(20_000).emitWithAck(name, body);

  it('is refused when its handler does not say who may call it', async () => {
    expect(await ask(connect(), 'forgotten')).toEqual({
      ok: false,
      code: 'internal.unexpected',
      detail: 'Quote the request id to support.',
    });
  });

  it('counts towards one rate of its socket, whatever it asks and however it is answered', async () => {
    const [socket, other] = [connect(), connect()];
    const names = Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? 'subscribe' : 'confirm'));
    const answers = await Promise.all(names.map((name) => ask(socket, name, null)));
    for (const answer of answers) expect(answer).toMatchObject({ ok: false, code: 'request.invalid' });
    const refused = { ok: false, code: 'rate.limited', detail: 'One connection asks at most 200 times in 10 seconds.' };
    expect(await Promise.all(['subscribe', 'confirm'].map((name) => ask(socket, name, null)))).toEqual([
      refused,
      refused,
    ]);
    expect(await ask(other, 'subscribe', null)).toMatchObject({ code: 'request.invalid' });
  });

  it('is read before anyone is looked up, and every wrong field is named', async () => {
    expect(await ask(connect(), 'subscribe', { orgId: 7, conversationId: randomUUID(), afterSeq: -1 })).toEqual({
      ok: false,
      code: 'request.invalid',
      detail: expect.stringMatching(/^orgId: .+; afterSeq: .+/),
    });
  });

  it('to unsubscribe has no answer and costs nothing of the rate', async () => {
    const socket = connect();
    let answered = 0;
    for (let index = 0; index < 300; index += 1)
      socket.emit('unsubscribe', index % 2 === 0 ? null : { conversationId: randomUUID() }, () => (answered += 1));
    expect(await ask(socket, 'subscribe', null)).toMatchObject({ code: 'request.invalid' });
    expect(answered).toBe(0);
  });
});
