import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { byAnswersSoFar, type ModelRequest, type ModelTurn } from '@slipway/testing';
import OpenAI from 'openai';
import { CLAUDE, expectAsSent, GPT, type ModelClients, openModelClients, type Way } from './world.ts';

const USAGE = {
  prompt_tokens: 120,
  completion_tokens: 30,
  total_tokens: 150,
  prompt_tokens_details: { cached_tokens: 20 },
};
const TURNS: readonly ModelTurn[] = [
  {
    text: 'I look first.',
    toolCalls: [{ name: 'weather', arguments: { city: 'Käseburg', unit: 'C' }, id: 'call_weather_1' }],
    usage: USAGE,
  },
  { text: 'It is 7 °C in Käseburg. 🧀', usage: USAGE },
];
const SCHEMA = {
  type: 'object' as const,
  properties: { city: { type: 'string' }, unit: { type: 'string' } },
  required: ['city'],
};
const TASK = 'What is the weather in Käseburg?';

/** Turns by what was answered before, in any dialect. */
function script(request: ModelRequest): ModelTurn | Promise<ModelTurn> {
  const { input } = request.body as { input?: ReadonlyArray<{ type?: string }> };
  const answered =
    JSON.stringify(request.body.messages ?? '').includes('tool_result') ||
    (Array.isArray(input) && input.some(({ type }) => type === 'function_call_output'));
  return answered ? (TURNS[1] as ModelTurn) : byAnswersSoFar(TURNS)(request);
}

/**
 * A task with one tool call, as the SDK's user sees it: everything that comes back, but what a network alone decides.
 */
type Task = (
  way: Way,
  model: string,
  stream: boolean,
) => Promise<{ readonly answers: readonly unknown[]; readonly text: string; readonly called: unknown }>;

const chat: Task = async (way, model, stream) => {
  const client = new OpenAI({ baseURL: `${way.origin}/v1`, apiKey: way.key, maxRetries: 0 });
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: 'You help.' },
    { role: 'user', content: [{ type: 'text', text: TASK }] },
  ];
  const tools: OpenAI.ChatCompletionTool[] = [{ type: 'function', function: { name: 'weather', parameters: SCHEMA } }];
  const ask = async (): Promise<OpenAI.ChatCompletion> =>
    stream
      ? client.chat.completions
          .stream({ model, messages, tools, stream_options: { include_usage: true } })
          .finalChatCompletion()
      : client.chat.completions.create({ model, messages, tools });
  const first = await ask();
  const message = first.choices[0]?.message;
  const call = message?.tool_calls?.[0];
  if (message === undefined || call?.type !== 'function')
    throw new Error(`no tool was called: ${JSON.stringify(first)}`);
  messages.push(message, { role: 'tool', tool_call_id: call.id, content: '7' });
  const second = await ask();
  return {
    answers: [first, second],
    text: second.choices[0]?.message.content ?? '',
    called: JSON.parse(call.function.arguments),
  };
};

const responses: Task = async (way, model, stream) => {
  const client = new OpenAI({ baseURL: `${way.origin}/v1`, apiKey: way.key, maxRetries: 0 });
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: TASK }];
  const tools: OpenAI.Responses.Tool[] = [{ type: 'function', name: 'weather', parameters: SCHEMA, strict: false }];
  const ask = async (): Promise<OpenAI.Responses.Response> => {
    const body = { model, input, tools, instructions: 'You help.', store: false };
    return stream ? client.responses.stream(body).finalResponse() : client.responses.create(body);
  };
  const first = await ask();
  const call = first.output.find((item) => item.type === 'function_call');
  if (call === undefined) throw new Error(`no tool was called: ${JSON.stringify(first)}`);
  input.push(...(first.output as OpenAI.Responses.ResponseInput), {
    type: 'function_call_output',
    call_id: call.call_id,
    output: '7',
  });
  const second = await ask();
  return { answers: [first, second], text: second.output_text, called: JSON.parse(call.arguments) };
};

const messages: Task = async (way, model, stream) => {
  const client = new Anthropic({ baseURL: way.origin, apiKey: way.key, maxRetries: 0 });
  const turns: Anthropic.MessageParam[] = [{ role: 'user', content: TASK }];
  const body = { model, max_tokens: 1_000, system: 'You help.', tools: [{ name: 'weather', input_schema: SCHEMA }] };
  const ask = async (): Promise<Anthropic.Message> =>
    stream
      ? client.messages.stream({ ...body, messages: turns }).finalMessage()
      : client.messages.create({ ...body, messages: turns });
  const first = await ask();
  const call = first.content.find((block) => block.type === 'tool_use');
  if (call === undefined) throw new Error(`no tool was called: ${JSON.stringify(first)}`);
  turns.push(
    { role: 'assistant', content: first.content },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: '7' }] },
  );
  const second = await ask();
  return {
    answers: [first, second],
    text: second.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    called: call.input,
  };
};

describe('the official SDKs for Node, through the gateway', () => {
  let clients: ModelClients;
  beforeAll(async () => {
    clients = await openModelClients(script);
  });
  afterAll(() => clients?.close());

  const plain = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value, (name, field: unknown) => (name.startsWith('_') ? undefined : field)));

  for (const stream of [false, true]) {
    const how = stream ? 'streamed' : 'whole';
    for (const [name, task, model] of [
      ['openai, chat', chat, GPT],
      ['openai, responses', responses, GPT],
      ['anthropic, messages', messages, CLAUDE],
    ] as const) {
      it(`${name}, ${how}: everything is as without it`, async () => {
        clients.use(script);
        const [direct, through] = [
          await task(clients.direct, model, stream),
          await task(clients.through, model, stream),
        ];
        expect(plain(through.answers)).toEqual(plain(direct.answers));
        expect(through).toMatchObject({ text: 'It is 7 °C in Käseburg. 🧀', called: { city: 'Käseburg', unit: 'C' } });
        const asked = (way: Way): string[] => way.provider.requests.slice(-2).map(({ raw }) => raw.toString());
        const sentDirectly = asked(clients.direct);
        for (const [index, received] of asked(clients.through).entries())
          expectAsSent(received, sentDirectly[index] ?? '');
      });
    }
  }

  // After those above: the ids of the provider count its requests.
  for (const stream of [false, true]) {
    const how = stream ? 'streamed' : 'whole';
    for (const [name, task, model] of [
      ['openai, chat, of a model with Anthropic’s wire format', chat, CLAUDE],
      ['openai, responses, of a model with Anthropic’s wire format', responses, CLAUDE],
      ['anthropic, messages, of a model with OpenAI’s wire format', messages, GPT],
    ] as const) {
      it(`${name}, ${how}: the task is done`, async () => {
        const { text, called } = await task(clients.through, model, stream);
        expect([text, called]).toEqual(['It is 7 °C in Käseburg. 🧀', { city: 'Käseburg', unit: 'C' }]);
      });
    }
  }

  it('meet a refusal as an error of their own, with our sentence', async () => {
    const openai = new OpenAI({ baseURL: `${clients.through.origin}/v1`, apiKey: 'slp_llm_nobody', maxRetries: 0 });
    await expect(
      openai.chat.completions.create({ model: GPT, messages: [{ role: 'user', content: 'hi' }] }),
    ).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
    const anthropic = new Anthropic({ baseURL: clients.through.origin, apiKey: clients.through.key, maxRetries: 0 });
    const refused = anthropic.messages.create({
      model: 'nothing',
      max_tokens: 10,
      messages: [{ role: 'user', content: 'hi' }],
    });
    await expect(refused).rejects.toBeInstanceOf(Anthropic.NotFoundError);
    await expect(refused).rejects.toThrow(/There is no model/);
  });

  it('get no piece without a choice in a stream of chat without requested counts', async () => {
    const { origin, key } = clients.through;
    const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: key, maxRetries: 0 });
    let text = '';
    for await (const chunk of await client.chat.completions.create({
      model: GPT,
      stream: true,
      messages: [{ role: 'user', content: TASK }],
    })) {
      // As OpenAI's own documentation reads it.
      expect(chunk.choices.length).toBe(1);
      text += chunk.choices[0]?.delta.content ?? '';
    }
    expect(text).toBe('I look first.');
  });

  it('throw where a provider ends its stream in the middle of an answer', async () => {
    // What the scripted provider cuts, the gateway says as an error of each API.
    clients.use(() => ({ fault: 'cut-mid-stream', text: 'half of it' }));
    try {
      const { origin, key } = clients.through;
      const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: key, maxRetries: 0 });
      const read = async (): Promise<void> => {
        for await (const _ of await client.chat.completions.create({
          model: GPT,
          stream: true,
          messages: [{ role: 'user', content: TASK }],
        }))
          void _;
      };
      await expect(read()).rejects.toThrow(/in the middle of its answer/);
    } finally {
      clients.use(script);
    }
  });
});
