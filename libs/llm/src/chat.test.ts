import { describe, it } from 'node:test';
import { expect } from 'expect';
import { type ChatMessage, toWire } from './chat.js';

const PICTURE = 'data:image/png;base64,AAAA';
const result = (id: string, images: string[] = []): ChatMessage => ({
  role: 'tool',
  toolCallId: id,
  content: 'text',
  ...(images.length === 0 ? {} : { images }),
});
const roles = (wire: Record<string, unknown>): unknown[] => (wire['messages'] as Array<{ role: unknown }>).map(({ role }) => role);

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
