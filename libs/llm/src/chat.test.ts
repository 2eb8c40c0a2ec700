import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type ChatMessage, toWire } from './chat.js';

const PICTURE = 'data:image/png;base64,AAAA';
const result = (id: string, images: string[] = []): ChatMessage => ({
  role: 'tool',
  toolCallId: id,
  content: 'text',
  ...(images.length === 0 ? {} : { images }),
});
const roles = (wire: Record<string, unknown>): unknown[] =>
  (wire['messages'] as Array<{ role: unknown }>).map(({ role }) => role);

describe('pictures of tools', () => {
  const messages: ChatMessage[] = [
    {
      role: 'assistant',
      content: null,
      toolCalls: [
        { id: 'a', name: 'x', arguments: '{}' },
        { id: 'b', name: 'x', arguments: '{}' },
      ],
    },
    result('a', [PICTURE]),
    result('b'),
    { role: 'assistant', content: 'I see.', toolCalls: [] },
  ];

  it('follow the results of their step, never between two of them', () => {
    const wire = toWire({ messages, tools: [] }, true);
    expect(roles(wire)).toEqual(['assistant', 'tool', 'tool', 'user', 'assistant']);
    expect((wire['messages'] as unknown[])[3]).toEqual({
      role: 'user',
      content: [
        { type: 'text', text: 'What the tool results above show:' },
        { type: 'image_url', image_url: { url: PICTURE } },
      ],
    });
  });

  it('are not sent to a model that is not known to see', () => {
    expect(JSON.stringify(toWire({ messages, tools: [] }))).not.toContain('image');
  });

  it('are at most six, the newest', () => {
    const many = Array.from({ length: 20 }, (_, index) => result(String(index), [`${PICTURE}${index}`]));
    const text = JSON.stringify(toWire({ messages: many, tools: [] }, true));
    expect(text.match(/image_url":\{/g)).toHaveLength(6);
    expect(text).toContain(`${PICTURE}19`);
    expect(text).not.toContain(`${PICTURE}13"`);
  });
});

describe('calls and their results', () => {
  const turn = (...ids: string[]): ChatMessage[] => [
    { role: 'assistant', content: null, toolCalls: ids.map((id) => ({ id, name: 'x', arguments: '' })) },
    ...ids.map((id) => result(id)),
  ];
  interface Sent {
    readonly tool_call_id?: string;
    readonly tool_calls?: ReadonlyArray<{ readonly id: string; readonly function: { readonly arguments: string } }>;
  }
  const sent = (...messages: ChatMessage[]): Sent[] => toWire({ messages, tools: [] })['messages'] as Sent[];

  /** A conversation goes on with the model of another provider, and models repeat themselves. */
  it('belong together by ids that every provider takes and that are there once, whatever ids the model gave', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uniqueArray(fc.oneof(fc.constant('call_0'), fc.string({ maxLength: 80 })), { maxLength: 4 }), {
          maxLength: 5,
        }),
        (answers) => {
          const messages = sent(...answers.flatMap((ids) => turn(...ids)));
          const called = messages.flatMap(({ tool_calls: calls }) => (calls ?? []).map(({ id }) => id));
          for (const id of called) expect(id).toMatch(/^[A-Za-z0-9_-]{1,40}$/);
          expect(new Set(called).size).toBe(called.length);
          expect(messages.flatMap(({ tool_call_id: id }) => (id === undefined ? [] : [id]))).toEqual(called);
        },
      ),
    );
  });

  it('keep the ids that are good, and have JSON for arguments where the model gave none', () => {
    const [answer, first] = sent(...turn('call_abc', 'toolu_01-x'));
    expect(answer?.tool_calls?.map(({ id }) => id)).toEqual(['call_abc', 'toolu_01-x']);
    expect(answer?.tool_calls?.[0]?.function.arguments).toBe('{}');
    expect(first?.tool_call_id).toBe('call_abc');
  });
});
