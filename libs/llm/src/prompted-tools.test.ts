import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ModelServer, startModelServer, textOfMessage } from '@slipway/testing';
import fc from 'fast-check';
import type { ChatMessage, CompletionDelta, ToolDefinition } from './chat.js';
import { LLM } from './llm.js';
import { withCallFromWords, withoutCallInDeltas, withToolsInWords } from './prompted-tools.js';

const TOOL: ToolDefinition = {
  name: 'file_editor',
  description: 'Edits files.',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string' },
      line: { type: 'integer' },
      all: { type: 'boolean' },
      range: { type: 'array' },
    },
    required: ['path'],
  },
};
const completion = (content: string) => ({
  id: 'r1',
  model: 'm',
  content,
  reasoning: '',
  toolCalls: [],
  finishReason: 'stop',
  usage: { promptTokens: 1, completionTokens: 1, cacheReadTokens: 0, reasoningTokens: 0, costUsd: null },
});

describe('tools in words', () => {
  it('are read back as they were called, whatever their arguments are', () => {
    const text = fc
      .string()
      .filter(
        (value) => !value.includes('</parameter>') && !value.includes('</function>') && !value.includes('<function='),
      );
    const values = fc.record(
      { path: text, line: fc.integer(), all: fc.boolean(), range: fc.array(fc.integer()) },
      { requiredKeys: ['path'] },
    );
    fc.assert(
      fc.property(values, text, (given, before) => {
        const history: ChatMessage[] = [
          {
            role: 'assistant',
            content: before,
            toolCalls: [{ id: 'c', name: 'file_editor', arguments: JSON.stringify(given) }],
          },
        ];
        const [, said] = withToolsInWords({ messages: history, tools: [TOOL] }).messages;
        const read = withCallFromWords(completion(said?.content ?? ''), [TOOL]);
        expect(read.toolCalls.map((call) => [call.name, JSON.parse(call.arguments)])).toEqual([['file_editor', given]]);
        expect(read.content).toBe(before.trimEnd());
      }),
    );
  });

  it('are a call though its end is missing, as when a model stops there; text without one stays as it is', () => {
    const cut = withCallFromWords(completion('I look.\n<function=file_editor>\n<parameter=path>/a</parameter>\n'), [
      TOOL,
    ]);
    expect(cut).toMatchObject({
      content: 'I look.',
      finishReason: 'tool_calls',
      toolCalls: [{ name: 'file_editor', arguments: '{"path":"/a"}' }],
    });
    expect(withCallFromWords(completion('a < b, <function> and </function>'), [TOOL])).toEqual(
      completion('a < b, <function> and </function>'),
    );
    expect(
      withCallFromWords(completion('<function=file_editor><parameter=line>many</parameter></function>'), [TOOL])
        .toolCalls[0]?.arguments,
    ).toBe('{"line":"many"}');
  });

  it('are never shown while an answer is written, and nothing else is held back for good', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('', 'I look < here. ', 'a <func b '),
        fc.boolean(),
        fc.integer({ min: 1, max: 9 }),
        (before, calls, piece) => {
          const whole = `${before}${calls ? '<function=think>\n<parameter=thought>x</parameter>\n</function>' : ''}`;
          const shown: CompletionDelta[] = [];
          const listen = withoutCallInDeltas((delta) => void shown.push(delta));
          for (let offset = 0; offset < whole.length; offset += piece)
            listen({ responseId: 'r', channel: 'content', offset, text: whole.slice(offset, offset + piece) });
          let text = '';
          for (const delta of shown) {
            expect(delta.offset).toBe(text.length);
            text += delta.text;
          }
          expect(text).toBe(before);
        },
      ),
    );
  });

  describe('with a model that knows no others', () => {
    let server: ModelServer;
    beforeAll(async () => {
      server = await startModelServer({
        script: [
          { text: 'I look.\n\n<function=file_editor>\n<parameter=path>/a b</parameter>\n</function>', chunkLength: 5 },
          { text: 'Done.' },
        ],
      });
    });
    afterAll(() => server.close());

    it('a task goes through call and result, and the model is sent no tools', async () => {
      const llm = new LLM({
        baseUrl: server.url,
        apiKey: null,
        model: 'scripted',
        idleTimeoutMs: 5_000,
        nativeToolCalling: false,
      });
      const deltas: string[] = [];
      const options = {
        signal: AbortSignal.timeout(30_000),
        onDelta: (delta: CompletionDelta) => void deltas.push(delta.text),
      };
      const messages: ChatMessage[] = [
        { role: 'system', content: 'You help.' },
        { role: 'user', content: 'look' },
      ];
      const first = await llm.complete({ messages, tools: [TOOL] }, options);
      expect(first).toMatchObject({
        content: 'I look.',
        toolCalls: [{ name: 'file_editor', arguments: '{"path":"/a b"}' }],
      });
      expect(deltas.join('')).not.toContain('function');
      const [call] = first.toolCalls;
      messages.push(
        { role: 'assistant', content: first.content, toolCalls: first.toolCalls },
        { role: 'tool', toolCallId: call?.id ?? '', content: 'nothing there' },
      );
      expect((await llm.complete({ messages, tools: [TOOL] }, options)).content).toBe('Done.');
      const [, second] = server.requests;
      expect(second?.body).not.toHaveProperty('tools');
      const said = (second?.body.messages ?? []).map((message) => `${message.role}: ${textOfMessage(message)}`);
      expect(said[0]).toContain('### file_editor\nEdits files.');
      expect(said.at(-1)).toBe('user: EXECUTION RESULT of [file_editor]:\nnothing there');
    });
  });
});
