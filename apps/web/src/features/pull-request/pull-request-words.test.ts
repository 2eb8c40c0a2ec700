import { describe, expect, it } from '@jest/globals';
import type { PullRequest } from '@slipway/contracts/repositories';
import { t } from '../../messages/testing.ts';
import { checksWord, chipText, mergeObstacle, reviewWord, stateWord, underWay } from './pull-request-words.ts';

const NO_CHECKS = { state: 'none', pending: 0, failed: 0, passed: 0 } as const;
const pull = (change: Partial<PullRequest> = {}): PullRequest =>
  ({
    number: 12,
    state: 'open',
    draft: false,
    publish: 'done',
    merge: null,
    problem: null,
    headSha: 'a'.repeat(40),
    conflicts: null,
    review: 'none',
    checks: NO_CHECKS,
    ...change,
  }) as PullRequest;

describe('the state of a pull request', () => {
  it('is one word', () => {
    expect(
      [pull(), pull({ draft: true }), pull({ state: 'merged' }), pull({ state: 'closed' })].map(
        (each) => stateWord(t, each).label,
      ),
    ).toEqual(['Open', 'Draft', 'Merged', 'Closed']);
    expect(stateWord(t, pull({ state: 'none', publish: 'queued' })).label).toBe('Publishing');
    expect(stateWord(t, pull({ state: 'none', publish: 'failed' })).label).toBe('Not published');
  });

  it('counts checks, and says nothing where there are none', () => {
    expect(checksWord(t, NO_CHECKS)).toBe(null);
    expect(checksWord(t, { state: 'failure', pending: 1, failed: 2, passed: 3 })?.label).toBe('2 of 6 checks failed');
    expect(checksWord(t, { state: 'pending', pending: 1, failed: 0, passed: 3 })?.label).toBe('3 of 4 checks done');
    expect(checksWord(t, { state: 'success', pending: 0, failed: 0, passed: 4 })?.label).toBe('All 4 checks passed');
    expect(reviewWord(t, pull())).toBe(null);
    expect(reviewWord(t, pull({ review: 'approved' }))?.tone).toBe('ok');
  });

  it('is short in the header', () => {
    expect(chipText(t, pull({ checks: { state: 'failure', pending: 0, failed: 1, passed: 2 } }))).toBe(
      '#12 · open · 1 failed',
    );
    expect(chipText(t, pull({ state: 'merged', checks: { state: 'success', pending: 0, failed: 0, passed: 2 } }))).toBe(
      '#12 · merged',
    );
    expect(chipText(t, pull({ number: null, state: 'none', publish: 'queued' }))).toBe('Pull request · publishing');
  });
});

describe('a merge', () => {
  it('can be asked for of what is open, ready and without conflicts', () => {
    expect(mergeObstacle(t, pull())).toBe(null);
    for (const change of [
      { draft: true },
      { conflicts: true },
      { state: 'closed' },
      { publish: 'queued' },
      { headSha: null },
    ] as Array<Partial<PullRequest>>)
      expect(mergeObstacle(t, pull(change))).toEqual(expect.any(String));
  });

  it('and a publish say that they are under way', () => {
    expect(underWay(t, pull())).toBe(null);
    expect(underWay(t, pull({ merge: 'queued' }))).toContain('Merging');
    expect(underWay(t, pull({ publish: 'waiting' }))).toContain('retries automatically');
  });
});
