import { describe, expect, it } from '@jest/globals';
import type { ConversationRecap } from '@slipway/contracts/conversations';
import { t } from '../../../messages/testing.ts';
import { nextPlace, recapWords } from './recap-words.ts';

const NOTHING: ConversationRecap = {
  after: 3,
  upto: 9,
  steps: 0,
  files: 0,
  failures: 0,
  tests: null,
  questions: 0,
  messages: 0,
  costUsd: null,
  rows: [],
};
const words = (recap: Partial<ConversationRecap>) => recapWords(t, { ...NOTHING, ...recap });

describe('the words of a recap', () => {
  it('name each count that is not nothing, tests after files', () => {
    const tests = { runs: 2, ok: false, passed: 212, failed: 1 };
    expect(words({ steps: 14, files: 3, tests, failures: 1, questions: 1, messages: 2, costUsd: 0.42 })).toEqual([
      '14 steps',
      '3 files edited',
      'tests 212 passed, 1 failed',
      '1 failure',
      '1 question',
      '2 messages',
      '$0.42',
    ]);
    expect(words({ steps: 1, costUsd: 0 })).toEqual(['1 step']);
    expect(words({})).toEqual([]);
  });

  it('never call a run of tests a success that was none', () => {
    const of = (ok: boolean, passed: number | null, failed: number | null) =>
      words({ tests: { runs: 1, ok, passed, failed } });
    expect([of(false, 5, 0), of(false, null, null), of(true, null, null), of(true, 5, 0)]).toEqual([
      ['tests failed'],
      ['tests failed'],
      ['tests passed'],
      ['tests 5 passed'],
    ]);
  });
});

describe('catching up', () => {
  it('goes to each row once, and to those that are not loaded', () => {
    const rows = [10, 12, 14, 20, 21];
    const loaded: Readonly<Record<number, string>> = { 10: 'a', 12: 'b', 14: 'b', 20: 'b', 21: 'c' };
    const rowOf = (seq: number) => loaded[seq] ?? null;
    const walk = (of: (seq: number) => string | null) => {
      const places: number[] = [];
      for (let at = nextPlace(rows, -1, of); at < rows.length; at = nextPlace(rows, at, of)) places.push(at);
      return places;
    };
    expect(walk(rowOf)).toEqual([0, 1, 4]);
    expect(walk(() => null)).toEqual([0, 1, 2, 3, 4]);
    expect(nextPlace([], -1, rowOf)).toBe(0);
  });
});
