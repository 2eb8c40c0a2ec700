import { randomUUID } from 'node:crypto';
import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MODEL, startTestGateway, type TestGateway } from '../test-gateway.js';

let test: TestGateway;
beforeAll(async () => {
  test = await startTestGateway();
  test.model.use(() => ({ text: 'ok' }));
});
afterAll(() => test.close());

interface Answer {
  readonly status: number;
  readonly body: { type?: string; error: { type?: string; code?: string; message: string } };
  readonly ms: number;
}
const whole = JSON.stringify({ model: MODEL, max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] });
function ask(agent: Agent, path: string, headers: Record<string, string>): Promise<Answer> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${test.gateway.url}${path}`,
      {
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/json', 'content-length': whole.length, ...headers },
      },
      (response) => {
        let text = '';
        response.on('data', (part: Buffer) => {
          text += part.toString();
        });
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            body: JSON.parse(text) as Answer['body'],
            ms: performance.now() - began,
          }),
        );
      },
    );
    request.on('error', reject);
    request.end(whole);
  });
}

describe('what cannot be a key', () => {
  it('is refused in the dialect of its path, on a connection that goes on', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const chat = await ask(agent, '/v1/chat/completions', { authorization: 'Bearer sk-nothing' });
    expect([chat.status, chat.body.error.code]).toEqual([401, 'auth.missing']);
    const messages = await ask(agent, '/v1/messages', { 'x-api-key': 'sk-ant-nothing' });
    expect([messages.status, messages.body.type, messages.body.error.type]).toEqual([
      401,
      'error',
      'authentication_error',
    ]);
    const good = await ask(agent, '/v1/chat/completions', { authorization: `Bearer ${await test.key(randomUUID())}` });
    expect(good.status).toBe(200);
    agent.destroy();
  });

  it('is answered once a second to a connection that goes on with it, and valid keys do not wait', async () => {
    const [bad, good] = [new Agent({ keepAlive: true, maxSockets: 1 }), new Agent({ keepAlive: true, maxSockets: 1 })];
    for (let each = 0; each < 16; each += 1)
      await ask(bad, '/v1/chat/completions', { authorization: 'Bearer slp_llm_nothing' });
    const late = ask(bad, '/v1/chat/completions', { authorization: 'Bearer slp_llm_nothing' });
    const key = await test.key(randomUUID());
    expect((await ask(good, '/v1/chat/completions', { authorization: `Bearer ${key}` })).status).toBe(200);
    const { status, ms } = await late;
    expect(status).toBe(401);
    expect(ms).toBeGreaterThanOrEqual(950);
    bad.destroy();
    good.destroy();
  });

  it('is answered once a second also to a connection that does not wait for its answers', async () => {
    const { hostname, port } = new URL(test.gateway.url);
    const socket = connect(Number(port), hostname);
    const began = performance.now();
    const eighteen = new Promise<void>((resolve, reject) => {
      let text = '';
      socket.on('data', (part: Buffer) => {
        text += part.toString();
        if (text.split('HTTP/1.1 401').length > 18) resolve();
      });
      socket.on('error', reject);
    });
    const one = `POST /v1/messages HTTP/1.1\r\nhost: ${hostname}\r\nx-api-key: sk-nothing\r\ncontent-length: ${whole.length}\r\n\r\n${whole}`;
    socket.write(one.repeat(18));
    await eighteen;
    expect(performance.now() - began).toBeGreaterThanOrEqual(1_950);
    socket.destroy();
  });
});
