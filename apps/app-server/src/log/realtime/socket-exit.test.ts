import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ResumeFrame, SubscribeAnswer } from '@slipway/contracts/events';
import { until } from '@slipway/testing';
import { io, type Socket } from 'socket.io-client';
import { ConversationApp, type User } from '../../testing/conversation-app.js';
import { RealtimeGateway } from './realtime.gateway.js';

/** Milliseconds. */
const DRAIN_MS = 400;

describe('a replica that drains', () => {
  let app: ConversationApp;
  let ada: User;
  const open: Socket[] = [];
  beforeAll(async () => {
    app = await ConversationApp.start();
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

  it('gives each socket its resume points, closes it, and takes no new one', async () => {
    const ids = await Promise.all([app.conversation(ada), app.conversation(ada)].map(async (made) => (await made).id));
    const sockets = [connect(), connect(), connect()];
    const resumed = new Map<Socket, ResumeFrame[]>(sockets.map((socket) => [socket, []]));
    for (const socket of sockets) {
      socket.on('resume', (frame: ResumeFrame) => void resumed.get(socket)?.push(frame));
      for (const conversationId of ids) {
        const answer = (await socket
          .timeout(20_000)
          .emitWithAck('subscribe', { orgId: ada.orgId, conversationId, afterSeq: 0 })) as SubscribeAnswer;
        expect(answer).toEqual({ ok: true, head: 0 });
      }
    }
    await app.replicas[0]?.app.get(RealtimeGateway).drain(DRAIN_MS);
    await until('all are closed', () => sockets.every((socket) => !socket.connected));
    const expected = ids.map((conversationId) => ({ conversationId, code: 'draining', afterSeq: 0 }));
    for (const frames of resumed.values()) expect(frames).toEqual(expected);
    const late = connect();
    await new Promise((resolve) => late.once('connect_error', resolve));
    expect(late.connected).toBe(false);
  });
});
