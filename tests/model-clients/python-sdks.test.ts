import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { ModelRequest, ModelTurn } from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import { pythonEnvironment, run } from '@slipway/testing/programs';
import { CLAUDE, expectAsSent, GPT, type ModelClients, openModelClients, type Way } from './world.ts';

const PACKAGES = ['openai==3.54.0', 'anthropic==2.12.0'];
const environment = await pythonEnvironment({
  name: `model-sdks/${PACKAGES.join('-').replaceAll('==', '-')}`,
  packages: PACKAGES,
});
const missing = 'missing' in environment ? `The SDKs for Python are not tried: ${environment.missing}` : null;
if (missing !== null) console.log(missing);

/** Not counted from the request: the one through the gateway is longer by what it grants. */
const USAGE = {
  prompt_tokens: 120,
  completion_tokens: 30,
  total_tokens: 150,
  prompt_tokens_details: { cached_tokens: 20 },
};

const script = (request: ModelRequest): ModelTurn =>
  /"role": ?"tool"|tool_result|function_call_output/.test(request.raw.toString())
    ? { text: 'It is 7 °C in Käseburg.', usage: USAGE }
    : {
        text: 'I look first.',
        toolCalls: [{ name: 'weather', arguments: { city: 'Käseburg' }, id: 'call_weather_1' }],
        usage: USAGE,
      };

describeUnless(missing)('the official SDKs for Python, through the gateway', () => {
  let clients: ModelClients;
  beforeAll(async () => {
    clients = await openModelClients(script);
  });
  afterAll(() => clients?.close());

  it('get everything as without it, in three dialects, streamed and whole', async () => {
    if ('missing' in environment) return;
    const ask = async ({ origin, key }: Way): Promise<unknown> => {
      const { code, output } = await run(
        environment.program('python'),
        [path.join(import.meta.dirname, 'tasks.py'), origin, key, GPT, CLAUDE],
        {
          timeoutMs: 120_000,
        },
      );
      if (code !== 0) throw new Error(output);
      return JSON.parse(output.trim().split('\n').at(-1) ?? '');
    };
    const [direct, through] = [await ask(clients.direct), await ask(clients.through)];
    expect(through).toEqual(direct);
    expect(Object.keys(through as object)).toHaveLength(6);
    const asked = (way: Way): string[] => way.provider.requests.map(({ raw }) => raw.toString());
    const sentDirectly = asked(clients.direct);
    expect(asked(clients.through)).toHaveLength(sentDirectly.length);
    for (const [index, received] of asked(clients.through).entries()) expectAsSent(received, sentDirectly[index] ?? '');
  });
});
