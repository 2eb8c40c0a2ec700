import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../wire/json.js';
import { testRequest, testTarget } from '../test-request.js';
import { converseRequest } from './write-request.js';

const CLAUDE = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const of = (request: Parameters<typeof testRequest>[0], model = CLAUDE): JsonObject =>
  converseRequest(testRequest(request), testTarget('bedrock', model));
const tool = {
  name: 'terminal',
  description: 'Runs',
  parameters: { properties: { command: { type: 'string' } } },
  strict: null,
} as const;
const call = { kind: 'tool-call', id: 'c/1', name: 'terminal', arguments: '{"command":"ls"}' } as const;
const result = { kind: 'tool-result', callId: 'c/1', parts: [{ kind: 'text', text: 'a b' }], isError: false } as const;

describe('a request to Bedrock', () => {
  it('says a conversation with tools, images, reasoning and marks for the cache, the sides in turn', () => {
    const written = of({
      system: [{ kind: 'text', text: 'You are helpful.', cache: { ttl: '1h' } }],
      turns: [
        {
          role: 'user',
          parts: [
            { kind: 'text', text: 'What is in it?' },
            { kind: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'aGk=' }, cache: { ttl: null } },
          ],
        },
        {
          role: 'assistant',
          parts: [
            { kind: 'thinking', text: 'Looking', signature: 'sig' },
            { kind: 'redacted', data: 'cmVk' },
            { kind: 'text', text: '  ' },
            call,
          ],
        },
        { role: 'user', parts: [{ kind: 'text', text: 'Go on.' }, result] },
        { role: 'assistant', parts: [{ kind: 'thinking', text: 'not signed', signature: null }] },
        { role: 'system', parts: [{ kind: 'text', text: 'Be brief.' }] },
      ],
      tools: [{ ...tool, cache: { ttl: '5m' } }],
      toolChoice: { kind: 'required' },
      maxOutputTokens: 1_000,
      sampling: { temperature: 1.5, topK: 5 },
      stop: ['END'],
      serviceTier: 'priority',
    });
    const messages = written['messages'] as Array<{ content: Array<{ toolUse?: { toolUseId: string } }> }>;
    const id = messages[1]?.content[2]?.toolUse?.toolUseId;
    expect(id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(written).toEqual({
      system: [{ text: 'You are helpful.' }, { cachePoint: { type: 'default', ttl: '1h' } }],
      messages: [
        {
          role: 'user',
          content: [
            { text: 'What is in it?' },
            { image: { format: 'png', source: { bytes: 'aGk=' } } },
            { cachePoint: { type: 'default' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { reasoningContent: { reasoningText: { text: 'Looking', signature: 'sig' } } },
            { reasoningContent: { redactedContent: 'cmVk' } },
            { toolUse: { toolUseId: id, name: 'terminal', input: { command: 'ls' } } },
          ],
        },
        {
          role: 'user',
          content: [
            { toolResult: { toolUseId: id, content: [{ text: 'a b' }], status: 'success' } },
            { text: 'Go on.' },
            { text: 'Be brief.' },
          ],
        },
      ],
      toolConfig: {
        tools: [
          {
            toolSpec: {
              name: 'terminal',
              description: 'Runs',
              inputSchema: { json: { type: 'object', properties: { command: { type: 'string' } } } },
            },
          },
          { cachePoint: { type: 'default' } },
        ],
        toolChoice: { any: {} },
      },
      inferenceConfig: { maxTokens: 1_000, temperature: 1, stopSequences: ['END'] },
      additionalModelRequestFields: { top_k: 5 },
      additionalModelResponseFieldPaths: ['/stop_sequence'],
      serviceTier: { type: 'priority' },
    });
  });

  it('writes calls as text where none may be made, since Bedrock takes their blocks only beside tools', () => {
    for (const more of [{}, { tools: [tool], toolChoice: { kind: 'none' } }] as const) {
      const { messages, toolConfig } = of({
        turns: [
          { role: 'assistant', parts: [call] },
          { role: 'user', parts: [result] },
        ],
        ...more,
      });
      expect(toolConfig).toBeUndefined();
      expect(messages).toEqual([
        { role: 'user', content: [{ text: 'Go on.' }] },
        { role: 'assistant', content: [{ text: '[called terminal with {"command":"ls"}]' }] },
        { role: 'user', content: [{ text: '[terminal answered]' }, { text: 'a b' }] },
      ]);
    }
  });

  it('says the request to reason as each family of models takes it, and to others nothing that they would refuse', () => {
    const reasoning = { on: true, effort: 'high', budgetTokens: null, summary: null };
    const fields = (model: string, more: object = {}, maxOutputTokens = 32_000): unknown =>
      of({ reasoning: { ...reasoning, ...more }, maxOutputTokens }, model)['additionalModelRequestFields'];
    expect(fields(CLAUDE, { budgetTokens: 4_000 })).toEqual({ thinking: { type: 'enabled', budget_tokens: 4_000 } });
    expect(fields('anthropic.claude-opus-4-7-v1')).toEqual({
      thinking: expect.objectContaining({ type: 'adaptive' }),
      output_config: { effort: 'high' },
    });
    expect(fields('openai.gpt-oss-120b-1:0')).toEqual({ reasoning_effort: 'high' });
    expect(fields('amazon.nova-2-lite-v1:0', { effort: 'low' })).toEqual({
      reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' },
    });
    // The highest effort takes no limit: where one is granted the effort is lower.
    expect(fields('amazon.nova-2-lite-v1:0', { effort: 'high' }, 9)).toEqual({
      reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' },
    });
    const highest = of(
      { reasoning, maxOutputTokens: null, sampling: { temperature: 0.5 } },
      'us.amazon.nova-2-lite-v1:0',
    );
    expect([highest['inferenceConfig'], highest['additionalModelRequestFields']]).toEqual([
      undefined,
      { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } },
    ]);
    expect(fields('amazon.nova-pro-v1:0')).toBeUndefined();
    expect(fields('meta.llama3-3-70b-instruct-v1:0')).toBeUndefined();
    const marked = of(
      {
        system: [{ kind: 'text', text: 's', cache: { ttl: null } }],
        turns: [{ role: 'assistant', parts: [{ kind: 'thinking', text: 't', signature: 's' }] }],
      },
      'meta.llama3',
    );
    expect(marked).toEqual({ system: [{ text: 's' }], messages: [{ role: 'user', content: [{ text: 'Go on.' }] }] });
  });

  it('knows a profile of ones own by the name that callers use, and hands on those betas that Bedrock knows', () => {
    const arn = 'arn:aws:bedrock:eu-central-1:1:application-inference-profile/abc';
    const request = {
      model: 'claude-sonnet-4-5',
      reasoning: { on: true, effort: null, budgetTokens: 2_000, summary: null },
      maxOutputTokens: 8_000,
    };
    const betas = 'interleaved-thinking-2025-05-14, claude-code-20250219';
    expect(
      converseRequest(testRequest(request), testTarget('bedrock', arn), betas)['additionalModelRequestFields'],
    ).toEqual({
      thinking: { type: 'enabled', budget_tokens: 2_000 },
      anthropic_beta: ['interleaved-thinking-2025-05-14'],
    });
    expect(
      converseRequest(testRequest({ ...request, model: 'fast' }), testTarget('bedrock', arn), betas)[
        'additionalModelRequestFields'
      ],
    ).toBeUndefined();
  });

  it('asks for an answer of a schema, and takes documents by name and content', () => {
    const { outputConfig, messages } = of({
      responseFormat: {
        kind: 'json-schema',
        name: 'weather',
        description: null,
        schema: { type: 'object' },
        strict: true,
      },
      turns: [
        {
          role: 'user',
          parts: [
            {
              kind: 'document',
              source: { kind: 'base64', mediaType: 'application/pdf', data: 'JVBE' },
              name: 'Bericht_März.pdf',
            },
          ],
        },
      ],
    });
    expect(outputConfig).toEqual({
      textFormat: { type: 'json_schema', structure: { jsonSchema: { schema: '{"type":"object"}', name: 'weather' } } },
    });
    expect(messages).toEqual([
      { role: 'user', content: [{ document: { format: 'pdf', source: { bytes: 'JVBE' }, name: 'Bericht M rz pdf' } }] },
    ]);
  });

  it('refuses pictures by address and of unknown types, and names what it is', () => {
    const image = (source: object): object =>
      of({ turns: [{ role: 'user', parts: [{ kind: 'image', source } as never] }] });
    expect(() => image({ kind: 'url', url: 'https://x.example/a.png' })).toThrow(/by its address/);
    expect(() => image({ kind: 'base64', mediaType: 'image/tiff', data: '' })).toThrow(/image\/tiff/);
  });
});
