import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { againAfterMs, readOutgoing, writeOutgoing } from './outgoing-list.ts';

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

  it('are sent again by themselves for less than a minute, and only where a part of the system does not answer', () => {
    const pauses = Array.from({ length: 20 }, (_, failures) => againAfterMs(failures, 'service.unavailable'));
    const total = pauses.reduce<number>((sum, pause) => sum + (pause ?? 0), 0);
    expect([pauses.indexOf(null) > 3, total > 30_000, total < 60_000]).toEqual([true, true, true]);
    expect(pauses.slice(pauses.indexOf(null)).every((pause) => pause === null)).toBe(true);
    for (const code of ['internal.unexpected', 'auth.missing', 'rate.limited', 'permission.denied', ''])
      expect(againAfterMs(0, code)).toBeNull();
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
