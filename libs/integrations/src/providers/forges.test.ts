import { describe, expect, it } from '@jest/globals';
import type { ReadDelivery } from '../delivery.js';
import type { Intent } from '../intent.js';
import type { ReadingContext } from '../provider.js';
import { ANN, comment, contextWith, forge, issue, OWN, pull, summary } from '../testing/deliveries.js';
import { PROVIDERS } from './index.js';

const OURS: Partial<ReadingContext> = { ours: () => true };
const BOT = { id: 77, login: 'helper[bot]', type: 'Bot' };
const SELF = { id: Number(OWN), login: 'slipway[bot]', type: 'Bot' };
const LABEL = { id: 3, name: 'slipway' };
const AT = '2026-11-23T10:00:00Z';
const line = (body: string, change = {}) =>
  comment(body, {
    path: 'src/cart.ts',
    line: 4,
    start_line: null,
    side: 'RIGHT',
    diff_hunk: '@@',
    pull_request_review_id: 70,
    ...change,
  });
const review = (body: string, state: string) => ({ id: 70, body, state, user: ANN, html_url: null, submitted_at: AT });
const run = (conclusion: string | null, head_branch: string | null = 'slipway/cart') => ({
  head_sha: 'abc',
  head_branch,
  conclusion,
  pull_requests: [],
});

type Row = readonly [expected: string, delivery: ReadDelivery, context?: Partial<ReadingContext>];
const gh = (event: string, action: string, body = {}): ReadDelivery => forge('github', event, action, body);
const gt = (event: string, action: string, body = {}): ReadDelivery => forge('gitea', event, action, body);

const GITHUB: readonly Row[] = [
  [`intent: label 42#12/label/3@${AT}`, gh('issues', 'labeled', { issue: issue(), label: { id: 3, name: 'SLIPWAY' } })],
  [`intent: label 42#13/label/3@${AT}`, gh('pull_request', 'labeled', { pull_request: pull(), label: LABEL })],
  ['ignored: no-trigger', gh('issues', 'labeled', { issue: issue(), label: { id: 4, name: 'bug' } })],
  ['ignored: closed', gh('issues', 'labeled', { issue: issue({ state: 'closed' }), label: LABEL })],
  ['ignored: own-act', gh('issues', 'labeled', { issue: issue(), label: LABEL, sender: SELF })],
  ['ignored: bot', gh('issues', 'labeled', { issue: issue(), label: LABEL, sender: BOT })],
  [
    `intent: label 42#12/label/3@${AT}`,
    gh('issues', 'labeled', { issue: issue(), label: LABEL, sender: BOT }),
    { bots: ['77'] },
  ],
  ['ignored: unreadable', gh('issues', 'labeled', { issue: issue(), label: null })],
  [`intent: assignment 42#12/assignment/999@${AT}`, gh('issues', 'assigned', { issue: issue(), assignee: SELF })],
  ['ignored: no-trigger', gh('issues', 'assigned', { issue: issue(), assignee: ANN })],
  [
    `intent: assignment 42#13/assignment/999@${AT}`,
    gh('pull_request', 'review_requested', { pull_request: pull(), requested_reviewer: SELF }),
  ],
  ['intent: mention 42#12/opened', gh('issues', 'opened', { issue: issue({ body: '@slipway please' }) })],
  ['ignored: no-trigger', gh('issues', 'opened', { issue: issue() })],
  ['ignored: edited', gh('issues', 'edited', { issue: issue({ body: '@slipway please' }) })],
  ['ignored: deleted', gh('issues', 'deleted', { issue: issue() })],
  ['ignored: closed', gh('issues', 'closed', { issue: issue() })],
  [
    'intent: mention 42#12/comment/900',
    gh('issue_comment', 'created', { issue: issue(), comment: comment('@slipway go') }),
  ],
  [
    'intent: mention 42#12/comment/900',
    gh('issue_comment', 'created', { issue: issue({ state: 'closed' }), comment: comment('@slipway go') }),
  ],
  [
    'intent: stop 42#12/comment/900',
    gh('issue_comment', 'created', { issue: issue(), comment: comment('@slipway stop') }),
  ],
  [
    'intent: mute 42#12/comment/900',
    gh('issue_comment', 'created', { issue: issue(), comment: comment('/slipway ignore') }),
  ],
  ['ignored: quoted-only', gh('issue_comment', 'created', { issue: issue(), comment: comment('> @slipway go') })],
  ['ignored: no-trigger', gh('issue_comment', 'created', { issue: issue(), comment: comment('go') }), OURS],
  [
    'ignored: own-act',
    gh('issue_comment', 'created', { issue: issue(), comment: comment('@slipway <!-- slipway:c1 -->') }),
  ],
  [
    'ignored: own-act',
    gh('issue_comment', 'created', {
      issue: issue(),
      comment: comment('@slipway', { performed_via_github_app: { id: 999 } }),
    }),
  ],
  [
    'ignored: bot',
    gh('issue_comment', 'created', { issue: issue(), comment: comment('@slipway', { user: BOT }), sender: BOT }),
  ],
  ['ignored: deleted', gh('issue_comment', 'deleted', { issue: issue(), comment: comment('@slipway go') })],
  [
    'intent: mention 42#12/comment/900',
    gh('issue_comment', 'edited', {
      issue: issue(),
      comment: comment('@slipway go'),
      changes: { body: { from: '> @slipway' } },
    }),
  ],
  [
    'ignored: edited',
    gh('issue_comment', 'edited', {
      issue: issue(),
      comment: comment('@slipway go now'),
      changes: { body: { from: '@slipway go' } },
    }),
  ],
  ['ignored: edited', gh('issue_comment', 'edited', { issue: issue(), comment: comment('@slipway go'), changes: {} })],
  [
    'ignored: edited',
    gh('issue_comment', 'edited', { issue: issue(), comment: comment('went'), changes: { body: { from: 'go' } } }),
  ],
  [
    'ignored: edited', // by another than its author: whose words are they?
    gh('issue_comment', 'edited', {
      issue: issue(),
      comment: comment('@slipway go', { user: { id: 8, login: 'eve' } }),
      changes: { body: { from: 'go' } },
    }),
  ],
  [
    'intent: review-comment 42#13/review-comment/900',
    gh('pull_request_review_comment', 'created', { pull_request: pull(), comment: line('@slipway why?') }),
  ],
  [
    'ignored: no-trigger',
    gh('pull_request_review_comment', 'created', { pull_request: pull(), comment: line('why?') }),
    OURS,
  ],
  [
    'ignored: no-trigger',
    gh('pull_request_review_comment', 'created', {
      pull_request: pull(),
      comment: line('why?', { in_reply_to_id: 1 }),
    }),
  ],
  [
    'intent: review-comment 42#13/review-comment/900',
    gh('pull_request_review_comment', 'created', {
      pull_request: pull(),
      comment: line('why?', { in_reply_to_id: 1 }),
    }),
    OURS,
  ],
  [
    'intent: review 42#13/review/70',
    gh('pull_request_review', 'submitted', { pull_request: pull(), review: review('@slipway again', 'commented') }),
  ],
  [
    'intent: review 42#13/review/70',
    gh('pull_request_review', 'submitted', { pull_request: pull(), review: review('', 'changes_requested') }),
    OURS,
  ],
  [
    'ignored: no-trigger',
    gh('pull_request_review', 'submitted', { pull_request: pull(), review: review('', 'changes_requested') }),
  ],
  [
    'ignored: no-trigger',
    gh('pull_request_review', 'submitted', { pull_request: pull(), review: review('fine', 'approved') }),
    OURS,
  ],
  [
    'ignored: closed',
    gh('pull_request_review', 'submitted', {
      pull_request: pull({ state: 'closed' }),
      review: review('', 'changes_requested'),
    }),
    OURS,
  ],
  [
    'ignored: edited',
    gh('pull_request_review', 'edited', { pull_request: pull(), review: review('@slipway', 'commented') }),
  ],
  ['outcome: slipway/cart failure', gh('check_suite', 'completed', { check_suite: run('failure') })],
  ['outcome: slipway/cart failure', gh('workflow_run', 'completed', { workflow_run: run('timed_out') })],
  ['outcome: slipway/cart success', gh('workflow_run', 'completed', { workflow_run: run('success') })],
  ['ignored: no-trigger', gh('check_suite', 'completed', { check_suite: run('neutral') })],
  ['ignored: no-trigger', gh('check_suite', 'completed', { check_suite: run('failure', null) })],
  ['ignored: event-not-followed', gh('check_suite', 'requested', { check_suite: run(null) })],
  [
    'outcome: #13 merged',
    gh('pull_request', 'closed', { pull_request: pull({ merged: true, state: 'closed' }), sender: SELF }),
  ],
  ['outcome: #13 closed', gh('pull_request', 'closed', { pull_request: pull({ state: 'closed' }) })],
  ['outcome: #13 reopened', gh('pull_request', 'reopened', { pull_request: pull() })],
  ['outcome: #13 changed', gh('pull_request', 'synchronize', { pull_request: pull() })],
  ['lifecycle: verified', gh('ping', '')],
  ['lifecycle: removed 5', gh('installation', 'deleted', { installation: { id: 5 } })],
  ['lifecycle: suspended 5', gh('installation', 'suspend', { installation: { id: 5 } })],
  ['lifecycle: restored 5', gh('installation', 'unsuspend', { installation: { id: 5 } })],
  ['lifecycle: access-changed 5', gh('installation', 'constructor', { installation: { id: 5 } })],
  ['lifecycle: access-changed 5', gh('installation_repositories', 'added', { installation: { id: 5 } })],
  ['lifecycle: authorization-revoked', gh('github_app_authorization', 'revoked')],
  ['ignored: event-not-followed', gh('constructor', 'created')],
];

const GITEA: readonly Row[] = [
  [
    `intent: label 42#12/label/3@${AT}`,
    gt('issues', 'label_updated', { issue: issue({ labels: [{ id: 4, name: 'bug' }, LABEL] }) }),
  ],
  ['ignored: no-trigger', gt('issues', 'label_updated', { issue: issue({ labels: [LABEL] }) }), OURS],
  [
    `intent: label 42#12/label/3@${AT}`,
    gt('issues', 'label_updated', { issue: issue({ labels: [LABEL] }), changes: { added_labels: [LABEL] } }),
    OURS,
  ],
  [
    'ignored: no-trigger',
    gt('issues', 'label_updated', {
      issue: issue({ labels: [LABEL] }),
      changes: { added_labels: [{ id: 4, name: 'bug' }] },
    }),
  ],
  [`intent: label 42#12/label/3@${AT}`, gt('issues', 'opened', { issue: issue({ labels: [LABEL] }) })],
  [`intent: assignment 42#12/assignment/999@${AT}`, gt('issues', 'assigned', { issue: issue({ assignees: [SELF] }) })],
  ['ignored: no-trigger', gt('issues', 'assigned', { issue: issue({ assignees: [SELF] }) }), OURS],
  ['intent: mention 42#12/opened', gt('issues', 'opened', { issue: issue({ body: '@slipway go' }) })],
  [
    'intent: mention 42#12/comment/900',
    gt('issue_comment', 'created', { issue: issue(), comment: comment('@slipway go'), is_pull: true }),
  ],
  ['ignored: deleted', gt('issue_comment', 'deleted', { issue: issue(), comment: comment('@slipway go') })],
  [
    'ignored: own-act',
    gt('issue_comment', 'created', {
      issue: issue(),
      comment: comment('@slipway go'),
      sender: { ...SELF, type: undefined },
    }),
  ],
  [
    `intent: label 42#13/label/3@${AT}`,
    gt('pull_request', 'label_updated', { pull_request: pull({ labels: [LABEL] }) }),
  ],
  [
    `intent: assignment 42#13/assignment/999@${AT}`,
    gt('pull_request', 'review_requested', { pull_request: pull(), requested_reviewer: SELF }),
  ],
  [
    `intent: review 42#13/review/7@${AT}`,
    gt('pull_request_rejected', 'reviewed', { pull_request: pull(), review: { content: 'no' } }),
    OURS,
  ],
  [
    `intent: review 42#13/review/7@${AT}`,
    gt('pull_request_comment', 'reviewed', { pull_request: pull(), review: { content: '' } }),
    OURS,
  ],
  [
    `intent: review 42#13/review/7@${AT}`,
    gt('pull_request_comment', 'reviewed', { pull_request: pull(), review: { content: '@slipway no' } }),
  ],
  [
    'ignored: no-trigger',
    gt('pull_request_approved', 'reviewed', { pull_request: pull(), review: { content: 'yes' } }),
    OURS,
  ],
  ['ignored: no-trigger', gt('pull_request_rejected', 'reviewed', { pull_request: pull(), review: { content: 'no' } })],
  ['outcome: #13 merged', gt('pull_request', 'closed', { pull_request: pull({ merged: true }) })],
  ['outcome: #13 changed', gt('pull_request', 'synchronized', { pull_request: pull() })],
  ['outcome: slipway/cart failure', gt('workflow_run', 'completed', { workflow_run: run('failure') })],
  ['ignored: event-not-followed', gt('push', '')],
];

const read = (provider: 'github' | 'gitea', [, delivery, context]: Row) =>
  PROVIDERS[provider].read(delivery, contextWith(context));
const title = (delivery: ReadDelivery, provider: 'github' | 'gitea', index: number): string =>
  `${PROVIDERS[provider].eventName(delivery)} (row ${index + 1})`;

for (const [provider, rows] of [
  ['github', GITHUB],
  ['gitea', GITEA],
] as const) {
  describe(`deliveries of ${provider}`, () => {
    rows.forEach((row, index) => {
      it(`${title(row[1], provider, index)} are read as ${row[0]}`, () =>
        expect(summary(read(provider, row))).toBe(row[0]));
    });
  });
}

describe('an intent of GitHub', () => {
  const intentOf = (delivery: ReadDelivery, context?: Partial<ReadingContext>): Intent => {
    const reading = read('github', ['', delivery, context]);
    if (reading.kind !== 'intent') throw new Error(summary(reading));
    return reading.intent;
  };

  it('holds the thread, the words, the subject and the place in the change', () => {
    expect(
      intentOf(gh('pull_request_review_comment', 'created', { pull_request: pull(), comment: line('@slipway why?') })),
    ).toEqual({
      trigger: 'review-comment',
      semanticKey: '42#13/review-comment/900',
      actor: { id: '7', login: 'ann', kind: 'user' },
      thread: {
        kind: 'pull-request',
        key: '42#13',
        place: { repository: 'acme/shop', number: 13 },
        url: 'https://git.example/acme/shop/issues/12',
        title: 'Fill the cart',
        confidential: false,
        state: 'open',
      },
      repository: { id: '42', fullName: 'acme/shop', private: true, defaultBranch: 'main' },
      pullRequest: { number: 13, headBranch: 'fix', headSha: 'abc', baseBranch: 'main', fork: false, draft: false },
      review: {
        commentId: '900',
        inReplyTo: null,
        path: 'src/cart.ts',
        line: 4,
        startLine: null,
        side: 'RIGHT',
        diffHunk: '@@',
      },
      instruction: {
        id: '900',
        author: { id: '7', login: 'ann', kind: 'user' },
        text: '@slipway why?',
        createdAt: AT,
        url: 'https://git.example/c/900',
      },
      subject: {
        id: '600',
        author: { id: '7', login: 'ann', kind: 'user' },
        text: 'Steps',
        createdAt: AT,
        url: 'https://git.example/acme/shop/issues/12',
      },
      gatherMs: 10_000,
      gatherKey: '42#13/review/70',
    });
  });

  it('says that a pull request is of a fork when its head is in another repository, or in none any more', () => {
    const forkOf = (repo: unknown) =>
      intentOf(
        gh('pull_request', 'labeled', { pull_request: pull({ head: { ref: 'fix', sha: 'abc', repo } }), label: LABEL }),
      ).pullRequest?.fork;
    expect([forkOf({ id: 42 }), forkOf({ id: 43 }), forkOf(null), forkOf(undefined)]).toEqual([
      false,
      true,
      true,
      true,
    ]);
  });

  it('of a review and of its line comments is gathered by the same key', () => {
    const whole = intentOf(
      gh('pull_request_review', 'submitted', { pull_request: pull(), review: review('@slipway', 'commented') }),
    );
    const part = intentOf(
      gh('pull_request_review_comment', 'created', { pull_request: pull(), comment: line('@slipway') }),
    );
    expect([whole.gatherKey, whole.gatherMs]).toEqual([part.gatherKey, part.gatherMs]);
  });

  it('links to nothing but pages of the web', () => {
    const { thread } = intentOf(
      gh('issues', 'labeled', { issue: issue({ html_url: 'javascript:alert(1)' }), label: LABEL }),
    );
    expect(thread.url).toBe(null);
  });
});
