import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { divideAnswer } from './open-actions.js';

describe('an answer that is divided by action', () => {
  it('approves what a yes does not reject, and nothing without a yes', () => {
    const some = { reason: 'no', rejections: [{ id: 'b', reason: 'not b' }, { id: 'c' }] };
    expect(divideAnswer(['a', 'b', 'c'], { accept: true, ...some })).toEqual({
      approved: ['a'],
      rejected: [
        { id: 'b', reason: 'not b' },
        { id: 'c', reason: 'no' },
      ],
    });
    expect(divideAnswer(['a', 'b'], { accept: false, ...some })).toEqual({
      approved: [],
      rejected: [
        { id: 'a', reason: 'no' },
        { id: 'b', reason: 'not b' },
      ],
    });
  });

  it('decides each waiting action exactly once, and never approves a rejected one', () => {
    const ids = fc.uniqueArray(fc.integer({ min: 0, max: 9 }).map(String));
    fc.assert(
      fc.property(ids, ids, fc.boolean(), (waiting, rejected, accept) => {
        const divided = divideAnswer(waiting, { accept, reason: 'no', rejections: rejected.map((id) => ({ id })) });
        expect([...divided.approved, ...divided.rejected.map(({ id }) => id)].sort()).toEqual([...waiting].sort());
        expect(divided.approved.filter((id) => !accept || rejected.includes(id))).toEqual([]);
      }),
    );
  });
});
