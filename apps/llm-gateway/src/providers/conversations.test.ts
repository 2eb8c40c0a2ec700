import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request } from 'undici';
import type { Target } from '../wire/exchange.js';
import type { JsonObject } from '../wire/json.js';
import { openExchange } from '../wire/open-exchange.js';
import { readRoutingFields } from '../wire/routing-fields.js';
import { framesOf, RESULT, TEST_CALLERS } from './test-caller.js';
import {
  startVendorServer,
  VENDOR_KEYS,
  VENDOR_MODELS,
  type VendorKind,
  type VendorServer,
} from './test-provider-server.js';

const CALLERS = ['chat', 'responses', 'messages'] as const;
const KINDS = ['azure', 'gemini', 'bedrock'] as const;
const CALLS = [
  { id: expect.any(String), name: 'terminal', arguments: { command: 'ls -la', timeout: 5 } },
  { id: expect.any(String), name: 'read_file', arguments: { path: 'Grüße 🎈.md' } },
];
const THOUGHT = {
  azure: '',
  gemini: '**Looking around**\n\nThe person wants the files listed.',
  bedrock: 'The person wants the files listed.',
};
const STOPS = {
  chat: ['tool_calls', 'stop'],
  messages: ['tool_use', 'end_turn'],
  responses: ['completed', 'completed'],
};
const USAGE = {
  azure: { promptTokens: 4_120, completionTokens: 41, cachedTokens: 4_010, cacheWriteTokens: 0, reasoningTokens: 0 },
  gemini: {
    promptTokens: 4_120,
    completionTokens: 169,
    cachedTokens: 4_010,
    cacheWriteTokens: 0,
    reasoningTokens: 128,
  },
  bedrock: {
    promptTokens: 4_120,
    completionTokens: 169,
    cachedTokens: 3_510,
    cacheWriteTokens: 500,
    reasoningTokens: 0,
  },
};

const servers = new Map<VendorKind, VendorServer>();
beforeAll(async () => {
  for (const kind of KINDS) servers.set(kind, await startVendorServer(kind));
});
afterAll(() => Promise.all([...servers.values()].map((server) => server.close())));

const targetOf = (kind: VendorKind): Target => ({
  provider: kind,
  baseUrl: servers.get(kind)?.url ?? '',
  apiKey: VENDOR_KEYS[kind],
  model: VENDOR_MODELS[kind],
  speaks: kind === 'azure' ? ['chat'] : [],
  region: 'eu-central-1',
  chatAdditions: false,
});

/** One call over HTTP: what the caller gets, as its SDK has it, and what was counted. */
async function ask(
  caller: (typeof CALLERS)[number],
  kind: VendorKind,
  asked: JsonObject,
): Promise<{ answer: JsonObject; usage: unknown }> {
  const body = Buffer.from(JSON.stringify(asked));
  const stream = asked['stream'] === true;
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const { answer, ...sent } = openExchange(
    { dialect: caller, body, fields: readRoutingFields(body, caller), stream, headers: {}, trace: { traceparent } },
    targetOf(kind),
  );
  const response = await request(sent.origin + sent.path, { method: 'POST', headers: sent.headers, body: sent.body });
  if (response.statusCode !== 200) throw new Error(await response.body.text());
  expect(answer.streams.test(String(response.headers['content-type']))).toBe(stream);
  if (!stream) {
    const whole = JSON.parse(
      answer.whole(Buffer.from(await response.body.arrayBuffer())).toString('utf8'),
    ) as JsonObject;
    return { answer: whole, usage: answer.usage };
  }
  const said: Buffer[] = [];
  for await (const chunk of response.body) said.push(answer.push(chunk as Buffer) ?? Buffer.alloc(0));
  said.push(answer.end() ?? Buffer.alloc(0));
  expect([answer.begun, answer.complete, answer.error]).toEqual([true, true, null]);
  return { answer: TEST_CALLERS[caller].assemble(framesOf(Buffer.concat(said).toString('utf8'))), usage: answer.usage };
}

describe('a conversation with calls of tools', () => {
  for (const kind of KINDS) {
    for (const caller of CALLERS) {
      for (const stream of [false, true]) {
        it(`goes through ${kind} for callers of ${caller}, ${stream ? 'streamed' : 'whole'}, and gives back what was signed`, async () => {
          const { first, next, seen } = TEST_CALLERS[caller];
          const begun = await ask(caller, kind, first(stream));
          expect(seen(begun.answer)).toEqual({
            text: 'I will look at both places.',
            thinking: THOUGHT[kind],
            calls: CALLS,
            stop: STOPS[caller][0],
          });
          expect(begun.usage).toEqual(USAGE[kind]);
          const ended = await ask(caller, kind, next(first(stream), begun.answer));
          expect(seen(ended.answer)).toMatchObject({
            text: 'There are two files.',
            thinking: '',
            calls: [],
            stop: STOPS[caller][1],
          });
          expectGivenBack(kind, servers.get(kind)?.requests.at(-1)?.body ?? {});
        });
      }
    }
  }

  it('goes on with another model in the middle, which is shown no signature but its own', async () => {
    const signatures = { azure: 'none', gemini: 'EqQBCqEBAb4', bedrock: 'EpUCCkgIBxAB' };
    for (const [caller, from, to] of CALLERS.flatMap((caller) =>
      KINDS.flatMap((from) => KINDS.map((to) => [caller, from, to] as const)),
    )) {
      const { first, next, seen } = TEST_CALLERS[caller];
      const begun = await ask(caller, from, first(true));
      const ended = await ask(caller, to, next(first(true), begun.answer));
      expect(seen(ended.answer).text).toBe('There are two files.');
      const sent = JSON.stringify(servers.get(to)?.requests.at(-1)?.body);
      const shown = KINDS.filter((kind) => sent.includes(signatures[kind]));
      expect([caller, from, to, shown, sent.includes('slipway.')]).toEqual([
        caller,
        from,
        to,
        from === to && from !== 'azure' ? [from] : [],
        false,
      ]);
      expect(sent).toContain('ls -la');
    }
  });

  it('that is nested deeper than can be said loses unread levels, or refused as the fault of its caller', () => {
    const deep = `{"a":${'['.repeat(50_000)}1${']'.repeat(50_000)}}`;
    const outcomes = CALLERS.flatMap((caller) =>
      KINDS.map((kind) => {
        const body = Buffer.from(
          JSON.stringify(TEST_CALLERS[caller].first(false)).replaceAll('{"type":"string"}', deep),
        );
        const fields = readRoutingFields(body, caller);
        try {
          openExchange({ dialect: caller, body, fields, stream: false, headers: {}, trace: {} }, targetOf(kind));
          return 'said';
        } catch (error) {
          return (error as { code?: string }).code;
        }
      }),
    );
    expect(new Set(outcomes)).toEqual(new Set(['said', 'request.invalid']));
  });

  it('is let in nowhere with another key, another body than was signed, or the key in the path', async () => {
    const body = Buffer.from(JSON.stringify(TEST_CALLERS.chat.first(false)));
    const asked = {
      dialect: 'chat',
      body,
      fields: readRoutingFields(body, 'chat'),
      stream: false,
      headers: {},
      trace: {},
    } as const;
    for (const kind of KINDS) {
      const wrong = openExchange(asked, {
        ...targetOf(kind),
        apiKey: kind === 'bedrock' ? 'AKIDEXAMPLE:wrong:token:of/a+role' : 'wrong',
      });
      expect(
        (await request(wrong.origin + wrong.path, { method: 'POST', headers: wrong.headers, body: wrong.body }))
          .statusCode,
      ).toBe(403);
      expect(openExchange(asked, targetOf(kind)).path).not.toContain(VENDOR_KEYS[kind]);
    }
    const signed = openExchange(asked, targetOf('bedrock'));
    const changed = Buffer.from(signed.body.toString('utf8').replace('helpful', 'harmful'));
    expect(
      (await request(signed.origin + signed.path, { method: 'POST', headers: signed.headers, body: changed }))
        .statusCode,
    ).toBe(403);
  });
});

/**
 * The second request has the question with its picture, what the model said and signed, and the results of both calls,
 * in the vendor's own form.
 */
function expectGivenBack(kind: VendorKind, body: Record<string, unknown>): void {
  const [said, results] = [{ text: 'I will look at both places.' }, { command: 'ls -la', timeout: 5 }];
  if (kind === 'gemini') {
    expect(body['systemInstruction']).toEqual({ parts: [{ text: 'You are helpful.' }] });
    expect(body['contents']).toEqual([
      {
        role: 'user',
        parts: [{ text: 'Which files are there?' }, { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }],
      },
      {
        role: 'model',
        parts: [
          said,
          {
            functionCall: { id: 'k3v1x9pz', name: 'terminal', args: results },
            thoughtSignature: 'EqQBCqEBAb4+9vtPyH7QXz0FnEgIvKkC7mUhT1Zx2b8R',
          },
          { functionCall: { id: 'm8w2y4qa', name: 'read_file', args: { path: 'Grüße 🎈.md' } } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'k3v1x9pz', name: 'terminal', response: { output: RESULT } } },
          { functionResponse: { id: 'm8w2y4qa', name: 'read_file', response: { output: RESULT } } },
        ],
      },
    ]);
  } else if (kind === 'bedrock') {
    const result = (toolUseId: string) => ({
      toolResult: { toolUseId, content: [{ text: RESULT }], status: 'success' },
    });
    const messages = body['messages'] as Array<{ role: string; content: object[] }>;
    expect(messages[0]).toEqual({
      role: 'user',
      content: [{ text: 'Which files are there?' }, { image: { format: 'png', source: { bytes: 'iVBORw0KGgo=' } } }],
    });
    expect(messages[1]).toEqual({
      role: 'assistant',
      content: [
        {
          reasoningContent: {
            reasoningText: { text: 'The person wants the files listed.', signature: 'EpUCCkgIBxABGAIqQLzP9aJZ' },
          },
        },
        said,
        { toolUse: { toolUseId: 'tooluse_kZJMlvQmRJ6eAyJE5GIl7Q', name: 'terminal', input: results } },
        { toolUse: { toolUseId: 'tooluse_p1xO3uYrTA2mU0aGmJ8Cbw', name: 'read_file', input: { path: 'Grüße 🎈.md' } } },
      ],
    });
    expect(messages.slice(2)).toEqual([
      { role: 'user', content: [result('tooluse_kZJMlvQmRJ6eAyJE5GIl7Q'), result('tooluse_p1xO3uYrTA2mU0aGmJ8Cbw')] },
    ]);
  } else {
    expect((body['messages'] as object[]).slice(2)).toMatchObject([
      { role: 'assistant', content: said.text, tool_calls: [{ id: 'call_9pK2' }, { id: 'call_7mQz' }] },
      { role: 'tool', tool_call_id: 'call_9pK2', content: RESULT },
      { role: 'tool', tool_call_id: 'call_7mQz', content: RESULT },
    ]);
  }
}
