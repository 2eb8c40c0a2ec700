import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import {
  startVendorServer,
  VENDOR_KEYS,
  VENDOR_MODELS,
  type VendorKind,
  type VendorServer,
} from '../../apps/llm-gateway/dist/providers/test-provider-server.js';
import { startTestGateway, type TestGateway } from '../../apps/llm-gateway/dist/test-gateway.js';

const KINDS = ['azure', 'gemini', 'bedrock'] as const;
/**
 * What must come back of each recorded answer: its signature, as it begins, or where nothing is signed the id of its
 * call.
 */
const HANDED_BACK = { azure: 'call_9pK2', gemini: 'EqQBCqEBAb4', bedrock: 'EpUCCkgIBxAB' } as const;
const PARAMETERS = { type: 'object' as const, properties: { command: { type: 'string' } } };
const NAMES = ['terminal', 'read_file'];
const TASK = 'Which files are there?';
const RESULT = 'a.txt b.txt';

let gateway: TestGateway;
let key: string;
let folder: string;
const vendors = new Map<VendorKind, VendorServer>();

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-vendors-'));
  const models: object[] = [];
  const keys: Record<string, string> = {};
  for (const kind of KINDS) {
    const vendor = await startVendorServer(kind);
    vendors.set(kind, vendor);
    const apiKeyEnv = `KEY_OF_${kind.toUpperCase()}`;
    keys[apiKeyEnv] = VENDOR_KEYS[kind];
    const place = { provider: kind, baseUrl: vendor.url, apiKeyEnv, model: VENDOR_MODELS[kind] };
    models.push({
      name: `by-${kind}`,
      deployments: [kind === 'bedrock' ? { ...place, region: 'eu-central-1' } : place],
    });
  }
  await writeFile(path.join(folder, 'models.json'), JSON.stringify({ models }));
  gateway = await startTestGateway({ LLM_MODELS_FILE: path.join(folder, 'models.json'), ...keys });
  key = await gateway.key();
});
afterAll(async () => {
  await gateway.close();
  await Promise.all([...vendors.values()].map((vendor) => vendor.close()));
  await rm(folder, { recursive: true, force: true });
});

/** A task with two calls of tools: how many there were, and what was said in the end. */
type Task = (model: string, stream: boolean) => Promise<{ readonly calls: number; readonly text: string }>;

const chat: Task = async (model, stream) => {
  const client = new OpenAI({ baseURL: `${gateway.gateway.url}/v1`, apiKey: key, maxRetries: 0 });
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: TASK }];
  const tools = NAMES.map(
    (name): OpenAI.ChatCompletionTool => ({ type: 'function', function: { name, parameters: PARAMETERS } }),
  );
  const ask = async (): Promise<OpenAI.ChatCompletionMessage | undefined> =>
    (stream
      ? await client.chat.completions.stream({ model, messages, tools }).finalChatCompletion()
      : await client.chat.completions.create({ model, messages, tools })
    ).choices[0]?.message;
  const first = await ask();
  if (first === undefined) throw new Error('no answer');
  const calls = first.tool_calls ?? [];
  messages.push(first, ...calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: RESULT })));
  return { calls: calls.length, text: (await ask())?.content ?? '' };
};

const responses: Task = async (model, stream) => {
  const client = new OpenAI({ baseURL: `${gateway.gateway.url}/v1`, apiKey: key, maxRetries: 0 });
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: TASK }];
  const tools = NAMES.map(
    (name): OpenAI.Responses.Tool => ({ type: 'function', name, parameters: PARAMETERS, strict: false }),
  );
  const ask = async (): Promise<OpenAI.Responses.Response> => {
    const body = { model, input, tools, store: false };
    return stream ? client.responses.stream(body).finalResponse() : client.responses.create(body);
  };
  const { output } = await ask();
  const calls = output.filter((item) => item.type === 'function_call');
  const results = calls.map(({ call_id }) => ({ type: 'function_call_output' as const, call_id, output: RESULT }));
  input.push(...(output as OpenAI.Responses.ResponseInput), ...results);
  return { calls: calls.length, text: (await ask()).output_text };
};

const messages: Task = async (model, stream) => {
  const client = new Anthropic({ baseURL: gateway.gateway.url, apiKey: key, maxRetries: 0 });
  const turns: Anthropic.MessageParam[] = [{ role: 'user', content: TASK }];
  const tools = NAMES.map((name): Anthropic.Tool => ({ name, input_schema: PARAMETERS }));
  const ask = async (): Promise<Anthropic.Message> => {
    const body = { model, max_tokens: 2_000, messages: turns, tools };
    return stream ? client.messages.stream(body).finalMessage() : client.messages.create(body);
  };
  const { content } = await ask();
  const calls = content.filter((block) => block.type === 'tool_use');
  const results = calls.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: RESULT }));
  turns.push({ role: 'assistant', content }, { role: 'user', content: results });
  return {
    calls: calls.length,
    text: (await ask()).content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
  };
};

describe('the official SDKs of OpenAI and Anthropic', () => {
  for (const kind of KINDS) {
    for (const [dialect, task] of Object.entries({ chat, responses, messages })) {
      for (const stream of [false, true]) {
        it(`run a task with tools on a model of ${kind} by ${dialect}, ${stream ? 'streamed' : 'whole'}, and hand back what it needs`, async () => {
          expect(await task(`by-${kind}`, stream)).toEqual({ calls: 2, text: 'There are two files.' });
          expect(JSON.stringify(vendors.get(kind)?.requests.at(-1)?.body)).toContain(HANDED_BACK[kind]);
        });
      }
    }
  }
});
