import { describe, expect, it } from '@jest/globals';
import { AnswerConfirmation } from '@slipway/contracts/conversations';
import { t } from '../../messages/testing.ts';
import { answerLabel, answerOf, countsOf, readsLikeYes } from './decisions.ts';

const [A, B] = ['0195a000-0000-7000-8000-00000000000a', '0195a000-0000-7000-8000-00000000000b'];

describe('an answer to several actions', () => {
  it('names every action that waits, and rejects those that were rejected', () => {
    expect(answerOf([A, B], {})).toEqual({ accept: true, actionIds: [A, B] });
    expect(answerOf([A, B], { [B]: ' not ours ' })).toEqual({
      accept: true,
      actionIds: [A, B],
      rejections: [{ id: B, reason: 'not ours' }],
    });
    expect(answerOf([A, B], { [A]: '', [B]: 'no' })).toEqual({
      accept: false,
      actionIds: [A, B],
      rejections: [{ id: A }, { id: B, reason: 'no' }],
    });
    expect(AnswerConfirmation.safeParse(answerOf([A, B], { [B]: '' })).success).toBe(true);
  });

  it('ignores a decision on an action that no longer waits', () => {
    expect(answerOf([A], { [B]: 'no' })).toEqual({ accept: true, actionIds: [A] });
  });

  it('has a button that says what will happen', () => {
    const label = (ids: string[], rejected: Record<string, string>) => answerLabel(t, countsOf(ids, rejected));
    expect([
      label([A], {}),
      label([A, B], {}),
      label([A, B], { [A]: '' }),
      label([A, B], { [A]: '', [B]: '' }),
    ]).toEqual(['Approve', 'Approve all 2', 'Approve 1, reject 1', 'Reject all 2']);
  });
});

describe('a message while actions wait', () => {
  it('is known for a yes when it reads like one, and for nothing else', () => {
    for (const yes of ['yes', 'Yes!', 'ok', 'go ahead', 'Approve', 'yes please', 'do it.', ' y '])
      expect([yes, readsLikeYes(yes)]).toEqual([yes, true]);
    for (const other of ['yes, but use rsync', 'no', 'go to the docs', 'okay so what about B?', ''])
      expect([other, readsLikeYes(other)]).toEqual([other, false]);
  });
});
