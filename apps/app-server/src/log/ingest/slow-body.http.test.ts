import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MAX_INGEST_BYTES } from '@slipway/contracts/events';
import { until } from '@slipway/testing';
import { ConversationApp, thought, type User } from '../../testing/conversation-app.js';

describe('a hostile sandbox that dribbles', () => {
  let app: ConversationApp;
  let ada: User;
  beforeAll(async () => {
    app = await ConversationApp.start();
    ada = await app.user('Ada');
  });
  afterAll(() => app?.close());

  /** A client that says how much it will send, and sends a byte now and then. */
  async function dribble(id: string, length: number) {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    const head = [
      `POST /ingest/v1/conversations/${id}/events HTTP/1.1`,
      'host: app',
      'content-type: application/json',
      `authorization: Bearer ${await app.token(ada, id)}`,
      `content-length: ${length}`,
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n{`);
    const drops = setInterval(() => socket.write(' '), 50);
    let answer = '';
    let closed = false;
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      closed = true;
      clearInterval(drops);
    });
    return { answer: () => answer, closed: () => closed };
  }

  it('is cut off with a code, and the room of its body is given back', async () => {
    const { id } = await app.conversation(ada);
    await app.started(id, 1);
    const held = [await dribble(id, MAX_INGEST_BYTES), await dribble(id, MAX_INGEST_BYTES)];
    const batch = { epoch: 1, events: [{ producerSeq: 1, event: thought('x'.repeat(1024 * 1024)) }] };
    const send = async () => {
      const response = await fetch(`${app.url}/ingest/v1/conversations/${id}/events`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${await app.token(ada, id)}` },
        body: JSON.stringify(batch),
      });
      return response.status;
    };
    await until('all of its room is held', async () => (await send()) === 503);
    await until('both are cut off', () => held.every(({ closed }) => closed()), 30_000);
    for (const { answer } of held) expect(answer()).toMatch(/^HTTP\/1\.1 408 [\s\S]*"code":"request\.too-slow"/);
    expect(await send()).toBe(200);
  });

  it('costs a small batch in pieces nothing', async () => {
    const { id } = await app.conversation(ada);
    await app.started(id, 1);
    const body = Buffer.from(JSON.stringify({ epoch: 1, events: [{ producerSeq: 1, event: thought('in pieces') }] }));
    const pieces = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of body) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    const response = await fetch(`${app.url}/ingest/v1/conversations/${id}/events`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${await app.token(ada, id)}` },
      body: pieces,
      duplex: 'half',
    } as RequestInit);
    expect(response.status).toBe(200);
  });
});
