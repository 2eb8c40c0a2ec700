import { describe, expect, it } from '@jest/globals';
import { testRequest, testTarget } from '../test-request.js';
import { geminiRequest } from './write-request.js';

const target = testTarget('gemini', 'gemini-3.1-pro-preview');
const of = (request: Parameters<typeof testRequest>[0], model = target.model): Record<string, unknown> =>
  geminiRequest(testRequest(request), { ...target, model });

describe('a request to Gemini', () => {
  it('says a conversation with tools, images and instructions, and gives back every signature where it came from', () => {
    expect(
      of({
        system: [{ kind: 'text', text: 'You are helpful.' }],
        turns: [
          {
            role: 'user',
            parts: [
              { kind: 'text', text: 'What is in it?' },
              { kind: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'aGk=' } },
            ],
          },
          {
            role: 'assistant',
            parts: [
              { kind: 'thinking', text: 'Looking', signature: 'sig-thought' },
              { kind: 'thinking', text: 'nobody signed this', signature: null },
              { kind: 'text', text: 'I look.' },
              { kind: 'tool-call', id: 'c1', name: 'terminal', arguments: '{"command":"ls"}', signature: 'sig-call' },
              { kind: 'tool-call', id: 'c2', name: 'read_file', arguments: '' },
            ],
          },
          {
            role: 'user',
            parts: [
              { kind: 'text', text: 'Go on.' },
              { kind: 'tool-result', callId: 'c1', parts: [{ kind: 'text', text: 'a b' }], isError: false },
              { kind: 'tool-result', callId: 'c2', parts: [{ kind: 'text', text: 'no such file' }], isError: true },
            ],
          },
          { role: 'system', parts: [{ kind: 'text', text: 'Be brief.' }] },
          {
            role: 'assistant',
            parts: [
              { kind: 'text', text: 'Two.' },
              { kind: 'thinking', text: '', signature: 'sig-text' },
            ],
          },
          { role: 'user', parts: [{ kind: 'text', text: 'Thanks.' }] },
        ],
        tools: [
          {
            name: 'terminal',
            description: 'Runs',
            parameters: { type: 'object', properties: { command: { type: 'string', minLength: 1 } } },
            strict: true,
          },
          { name: 'read_file', description: null, parameters: { type: 'object', properties: {} }, strict: null },
        ],
        toolChoice: { kind: 'tool', name: 'terminal' },
      }),
    ).toEqual({
      systemInstruction: { parts: [{ text: 'You are helpful.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'What is in it?' }, { inlineData: { mimeType: 'image/png', data: 'aGk=' } }] },
        {
          role: 'model',
          parts: [
            { text: 'Looking', thought: true, thoughtSignature: 'sig-thought' },
            { text: 'I look.' },
            { functionCall: { id: 'c1', name: 'terminal', args: { command: 'ls' } }, thoughtSignature: 'sig-call' },
            { functionCall: { id: 'c2', name: 'read_file', args: {} } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'c1', name: 'terminal', response: { output: 'a b' } } },
            { functionResponse: { id: 'c2', name: 'read_file', response: { error: 'no such file' } } },
            { text: 'Go on.' },
            { text: 'Be brief.' },
          ],
        },
        { role: 'model', parts: [{ text: 'Two.' }, { text: '', thoughtSignature: 'sig-text' }] },
        { role: 'user', parts: [{ text: 'Thanks.' }] },
      ],
      tools: [
        {
          functionDeclarations: [
            {
              name: 'terminal',
              description: 'Runs',
              parametersJsonSchema: {
                type: 'object',
                properties: { command: { type: 'string', description: '(minLength: 1)' } },
              },
            },
            { name: 'read_file', description: '' },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['terminal'] } },
    });
  });

  it("has Google's word on a call that another model made, where the model demands a signature, and only there", () => {
    const call = (id: string) => ({ kind: 'tool-call', id, name: 'f', arguments: '{}' }) as const;
    const turns = [{ role: 'assistant', parts: [call('a'), call('b')] }] as const;
    const signatures = (model: string, parts: readonly object[] = turns[0].parts): unknown =>
      (
        of({ turns: [{ role: 'assistant', parts: parts as never }] }, model)['contents'] as Array<{
          parts: Array<{ thoughtSignature?: string }>;
        }>
      )[1]?.parts.map(({ thoughtSignature }) => thoughtSignature);
    expect(signatures('gemini-3-flash')).toEqual(['skip_thought_signature_validator', undefined]);
    expect(signatures('gemini-flash-latest')).toEqual(['skip_thought_signature_validator', undefined]);
    expect(signatures('gemini-2.5-pro')).toEqual([undefined, undefined]);
    expect(
      signatures('gemini-3-flash', [{ kind: 'thinking', text: 'a summary', signature: 'bare' }, call('a')]),
    ).toEqual(['bare']);
  });

  it('says limits, sampling, formats and the request to reason as each generation takes it', () => {
    const config = (request: Parameters<typeof testRequest>[0], model?: string): unknown =>
      of(request, model)['generationConfig'];
    expect(
      config({
        maxOutputTokens: 100,
        stop: ['END'],
        sampling: { temperature: 0.5, topP: 0.9, topK: 40, seed: 7 },
        responseFormat: {
          kind: 'json-schema',
          name: 'x',
          description: null,
          schema: { type: 'object', properties: { a: { const: 1 } } },
          strict: true,
        },
      }),
    ).toEqual({
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      seed: 7,
      maxOutputTokens: 100,
      stopSequences: ['END'],
      responseMimeType: 'application/json',
      responseJsonSchema: { type: 'object', properties: { a: { enum: [1] } } },
    });
    const thinks = (reasoning: object, model: string): unknown =>
      (
        config({ reasoning: { on: true, effort: null, budgetTokens: null, summary: null, ...reasoning } }, model) as
          | { thinkingConfig?: object }
          | undefined
      )?.thinkingConfig;
    expect(thinks({ effort: 'high' }, 'gemini-3-flash')).toEqual({ includeThoughts: true, thinkingLevel: 'high' });
    expect(thinks({ budgetTokens: 1_024 }, 'gemini-3-flash')).toEqual({ includeThoughts: true, thinkingLevel: 'low' });
    expect(thinks({ on: false }, 'gemini-3.1-pro-preview')).toEqual({ thinkingLevel: 'low' });
    expect(thinks({ effort: 'medium' }, 'gemini-2.5-flash')).toEqual({ includeThoughts: true, thinkingBudget: 8_192 });
    expect(thinks({ budgetTokens: 2_000 }, 'gemini-2.5-pro')).toEqual({ includeThoughts: true, thinkingBudget: 2_000 });
    expect(thinks({ on: false }, 'gemini-2.5-flash')).toEqual({ thinkingBudget: 0 });
    expect(thinks({ effort: 'high' }, 'gemini-2.0-flash')).toBeUndefined();
    expect(config({ reasoning: null })).toBeUndefined();
  });

  it('refuses the result of a call that is not in the conversation, and names it', () => {
    const result = { kind: 'tool-result', callId: 'lost', parts: [], isError: false } as const;
    expect(() => of({ turns: [{ role: 'user', parts: [result] }] })).toThrow(/lost/);
  });

  it('shows pictures of a result beside it, and lets Gemini fetch what has an address', () => {
    const image = (url: string) => ({ kind: 'image', source: { kind: 'url', url } }) as const;
    const call = { kind: 'tool-call', id: 'c', name: 'look', arguments: 'not json' } as const;
    const { contents } = of(
      {
        turns: [
          { role: 'assistant', parts: [call] },
          {
            role: 'user',
            parts: [
              {
                kind: 'tool-result',
                callId: 'c',
                parts: [
                  { kind: 'text', text: 'see' },
                  image('https://x.example/a.PNG?s=1'),
                  image('https://x.example/b'),
                ],
                isError: false,
              },
            ],
          },
        ],
      },
      'gemini-2.5-pro',
    );
    expect(contents).toEqual([
      { role: 'user', parts: [{ text: 'Go on.' }] },
      { role: 'model', parts: [{ functionCall: { id: 'c', name: 'look', args: { INVALID_JSON: 'not json' } } }] },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'c', name: 'look', response: { output: 'see' } } },
          { fileData: { fileUri: 'https://x.example/a.PNG?s=1', mimeType: 'image/png' } },
          { fileData: { fileUri: 'https://x.example/b' } },
        ],
      },
    ]);
  });

  it('takes no address at Google from a hostile caller: a video fills the context, and files there belong to all users of the key', () => {
    for (const url of [
      'https://www.youtube.com/watch?v=1&x=.png',
      'https://youtu.be/1',
      'https://generativelanguage.googleapis.com/v1beta/files/abc',
      'gs://bucket/a.png',
      'not an address',
    ])
      expect(() => of({ turns: [{ role: 'user', parts: [{ kind: 'image', source: { kind: 'url', url } }] }] })).toThrow(
        /messages/,
      );
  });
});
