import { describe, expect, it } from '@jest/globals';
import type { ConversationPullRequest } from '@slipway/contracts/conversations';
import { t } from '../../messages/testing.ts';
import { marksOf } from './pull-request-mark.ts';

const pull = (change: Partial<ConversationPullRequest> = {}): ConversationPullRequest => ({
  number: 12,
  url: null,
  state: 'open',
  draft: false,
  checks: 'none',
  review: 'none',
  conflicts: null,
  ...change,
});
const labels = (change: Partial<ConversationPullRequest>): readonly string[] =>
  marksOf(t, pull(change)).map(({ label }) => label);

describe('the marks of a pull request in a list', () => {
  it('name state, checks, review and conflicts while it is open', () => {
    expect(labels({})).toEqual(['Pull request #12']);
    expect(labels({ draft: true, checks: 'failure', review: 'changes-requested', conflicts: true })).toEqual([
      'Pull request #12, draft',
      'checks failed',
      'changes requested',
      'conflicts',
    ]);
    expect(labels({ checks: 'success', review: 'approved', conflicts: false })).toEqual([
      'Pull request #12',
      'checks passed',
      'approved',
    ]);
  });

  it('are one when it has ended', () => {
    expect(labels({ state: 'merged', checks: 'failure' })).toEqual(['Pull request #12 merged']);
    expect(labels({ state: 'closed', conflicts: true })).toEqual(['Pull request #12 closed']);
  });
});
