import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../until.js';
import { byAnswersSoFar, type ModelTurn } from './model-script.js';
import { type ModelServer, startModelServer } from './model-server.js';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer({ script: [] });
});
afterAll(() => server.close());

const post = (body: object, signal?: AbortSignal): Promise<Response> =>
  fetch(`${server.url}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...body }),
    ...(signal === undefined ? {} : { signal }),
  });

/** Status and text, or what the client saw break. */
async function outcome(turn: ModelTurn, stream: boolean): Promise<[number, string]> {
  server.use([turn]);
  try {
    const response = await post({ stream }, AbortSignal.timeout(500));
    return [response.status, await response.text().catch((error: Error) => error.name)];
  } catch (error) {
    return [0, (error as Error).name];
  }
}

describe('the scripted model server', () => {
  it('gives the same answer streamed and whole', async () => {
    const turn: ModelTurn = {
      text: 'Grüße 🎈 und mehr',
      reasoning: 'hm',
      toolCalls: [{ name: 'terminal', arguments: { command: 'ls -la' } }],
      chunkLength: 3,
    };
    server.use([turn, turn]);
    const whole = (await (await post({})).json()) as {
      choices: Array<{
        message: { content: string; tool_calls: Array<{ function: { arguments: string } }> };
        finish_reason: string;
      }>;
      usage: object;
    };
    const text = await (await post({ stream: true, stream_options: { include_usage: true } })).text();
    const frames = text
      .split('\n\n')
      .filter((frame) => frame.startsWith('data: {'))
      .map(
        (frame) =>
          JSON.parse(frame.slice(6)) as {
            choices: Array<{
              delta: { content?: string; tool_calls?: Array<{ function: { arguments: string } }> };
              finish_reason: string | null;
            }>;
            usage?: object;
          },
      );
    const deltas = frames.flatMap((frame) => frame.choices);
    expect(deltas.map(({ delta }) => delta.content ?? '').join('')).toBe(whole.choices[0]?.message.content);
    expect(deltas.map(({ delta }) => delta.tool_calls?.[0]?.function.arguments ?? '').join('')).toBe(
      '{"command":"ls -la"}',
    );
    expect(whole.choices[0]?.message.tool_calls[0]?.function.arguments).toBe('{"command":"ls -la"}');
    expect(deltas.at(-1)?.finish_reason).toBe('tool_calls');
    expect(frames.at(-1)?.usage).toBeDefined();
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it('misbehaves on request', async () => {
    expect((await outcome({ fault: 'status', status: 429, retryAfterSeconds: 1 }, true))[0]).toBe(429);
    expect((await outcome({ fault: 'hang' }, true))[1]).toBe('TimeoutError');
    expect((await outcome({ fault: 'hang-mid-stream' }, true))[1]).toBe('TimeoutError');
    expect(await outcome({ fault: 'cut-mid-stream' }, true)).toEqual([200, 'TypeError']);
    expect(await outcome({ fault: 'cut' }, true)).toEqual([0, 'TypeError']);
    const [, broken] = await outcome({ fault: 'malformed-json' }, false);
    expect(() => JSON.parse(broken)).toThrow();
    expect((await outcome({ fault: 'wrong-content-type' }, true))[1]).toContain('<!doctype html>');
    expect((await outcome({ fault: 'nonsense' }, true))[1]).toContain('weather');
    expect((await outcome({ fault: 'error-in-stream', message: 'late' }, true))[1]).toContain('late');
    expect((await outcome({ fault: 'huge-line', bytes: 100_000 }, true))[1].length).toBeGreaterThan(100_000);
  });

  it('says so when its script is over', async () => {
    server.use([]);
    const response = await post({});
    expect(response.status).toBe(500);
    expect(await response.text()).toContain('0 turns');
  });

  it('answers by what a request holds, so that a repeated one gets the same turn', async () => {
    server.use(byAnswersSoFar([{ text: 'first' }, { text: 'second' }]));
    const ask = async (messages: object[]): Promise<string> => (await post({ messages })).text();
    const user = { role: 'user', content: 'x' };
    const assistant = { role: 'assistant', content: 'y' };
    expect(await ask([user])).toContain('first');
    expect(await ask([user])).toContain('first');
    expect(await ask([user, assistant])).toContain('second');
    expect(await ask([user, assistant, user])).toContain('first');
  });

  it('sees when a client goes away', async () => {
    server.use(() => ({ fault: 'hang' }));
    const before = server.requests.length;
    const controller = new AbortController();
    const answer = post({}, controller.signal).catch(() => null);
    await until('the request', () => server.requests.length > before);
    controller.abort();
    await until('the end', () => server.requests[before]?.abortedAt !== null);
    await answer;
  });
});
