import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readOutgoing, writeOutgoing } from './outgoing-list.ts';

describe('messages on their way', () => {
  it('are the same after a reload, with what went wrong', () => {
    const list = [
      { id: 'a', text: 'one' },
      {
        id: 'b',
        text: 'two',
        files: [{ id: 'f', name: 'a.txt', sizeBytes: 1, mediaType: 'text/plain' }],
        error: 'No answer.',
      },
    ];
    expect(readOutgoing(writeOutgoing(list))).toEqual(list);
    expect([writeOutgoing([]), readOutgoing('')]).toEqual(['', []]);
  });

  it('are none where the storage holds something else', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (stored) => expect(Array.isArray(readOutgoing(stored))).toBe(true)),
    );
    expect(readOutgoing('[1, null, {"id": 2}, {"id": "a", "text": "one", "more": 1}]')).toEqual([
      { id: 'a', text: 'one' },
    ]);
  });
});
