import { describe, expect, it } from '@jest/globals';
import { t } from '../../messages/testing.ts';
import { linesOfReading, readableBody } from './reading-words.ts';

const intent = (change: object = {}) => ({
  kind: 'intent',
  intent: {
    trigger: 'label',
    actor: { id: '7', login: 'ann', kind: 'user' },
    thread: { key: 'acme/shop#12', title: 'Cart is empty', url: 'https://git.example.test/acme/shop/issues/12' },
    repository: { fullName: 'acme/shop' },
    instruction: { text: '' },
    ...change,
  },
});

describe('what was read in a delivery', () => {
  it('is its trigger, actor, thread and repository', () => {
    expect(linesOfReading(t, intent()).map(({ name, text }) => [name, text])).toEqual([
      ['Trigger', 'Label'],
      ['Actor', 'ann (ID 7)'],
      ['Thread', 'Cart is empty'],
      ['Repository', 'acme/shop'],
    ]);
  });

  it('adversary: a thread whose address is a script is no link', () => {
    const thread = { key: 'k', title: 'Click me', url: 'javascript:alert(1)' };
    expect(linesOfReading(t, intent({ thread })).find(({ name }) => name === 'Thread')).toEqual({
      name: 'Thread',
      text: 'Click me',
    });
  });

  it('is nothing where the delivery asks for nothing, or a newer server says it in another way', () => {
    expect(linesOfReading(t, { kind: 'ignored', reason: 'no-trigger' })).toEqual([]);
    expect(linesOfReading(t, { kind: 'intent', intent: { trigger: 1 } })).toEqual([]);
  });
});

describe('a body', () => {
  it('has its lines when it is JSON, and is left alone otherwise', () => {
    expect(readableBody('{"a":1}')).toBe('{\n  "a": 1\n}');
    expect(readableBody('payload=%7B%7D')).toBe('payload=%7B%7D');
  });
});
