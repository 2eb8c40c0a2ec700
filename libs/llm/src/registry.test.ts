import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ModelServer, startModelServer } from '@slipway/testing';
import { LlmRegistry } from './registry.js';

describe('the LLMs of a conversation', () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer({ script: () => ({ text: 'ok' }) });
  });
  afterAll(() => server.close());

  it('are kept by usage, are switched between two calls, and count for themselves whatever model they had', async () => {
    const config = (model: string) => ({ baseUrl: server.url, apiKey: null, model, idleTimeoutMs: 5_000 });
    const registry = new LlmRegistry({ agent: config('large'), title: config('small') });
    const ask = async (usage: 'agent' | 'condenser' | 'title'): Promise<unknown> => {
      await registry
        .get(usage)
        .complete({ messages: [{ role: 'user', content: 'hi' }], tools: [] }, { signal: AbortSignal.timeout(30_000) });
      const request = server.requests.at(-1);
      return [request?.body.model, request?.headers['x-slipway-purpose']];
    };
    expect([await ask('agent'), await ask('condenser'), await ask('title')]).toEqual([
      ['large', 'agent'],
      ['large', 'condenser'],
      ['small', 'title'],
    ]);
    registry.switch('agent', config('other'));
    expect([await ask('agent'), await ask('condenser'), await ask('title')]).toEqual([
      ['other', 'agent'],
      ['other', 'condenser'],
      ['small', 'title'],
    ]);
    expect(Object.entries(registry.totals).map(([usage, { calls }]) => [usage, calls])).toEqual([
      ['agent', 2],
      ['condenser', 2],
      ['title', 2],
    ]);
  });
});
