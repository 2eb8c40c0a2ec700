import { describe, expect, it } from '@jest/globals';
import type { Reading } from '../intent.js';
import type { ReadingContext } from '../provider.js';
import { contextWith, type Json, summary } from '../testing/deliveries.js';
import {
  gitlabBody,
  gitlabMerge,
  gitlabNote,
  jiraBody,
  jiraChange,
  jiraComment,
  jiraIssue,
  linearEntity,
  linearIssue,
  linearPrompt,
  linearSession,
  slackMessage,
  slackPressed,
} from '../testing/samples.js';
import { PROVIDERS } from './index.js';

type Row = readonly [expected: string, body: Json, context?: Partial<ReadingContext>];
const OURS: Partial<ReadingContext> = { ours: () => true };
const AT = '2026-11-23T10:00:00.000Z';
const LABEL = { id: 3, title: 'slipway', name: 'Slipway' };
const LINEAR_LABEL = { id: 'l-1', name: 'SLIPWAY' };
const adf = (...content: Json[]): Json => ({ version: 1, type: 'doc', content });
const paragraph = (...content: Json[]): Json => ({ type: 'paragraph', content });
const words = (text: string, ...marks: string[]): Json => ({
  type: 'text',
  text,
  marks: marks.map((type) => ({ type })),
});
const mention = { type: 'mention', attrs: { id: '999', text: '@Slipway' } };

const gitlabIssue = (attributes: Json, change: Json = {}): Json =>
  gitlabBody('issue', { action: 'update', ...attributes }, change);
const merge = (attributes: Json, change: Json = {}): Json =>
  gitlabBody('merge_request', { ...gitlabMerge, updated_at: AT, ...attributes }, change);
const labelled = {
  changes: { labels: { previous: [{ id: 1, title: 'bug' }], current: [{ id: 1, title: 'bug' }, LABEL] } },
};
const onMerge = { issue: null, merge_request: gitlabMerge };

const ROWS: Readonly<Record<'gitlab' | 'slack' | 'jira' | 'linear', readonly Row[]>> = {
  gitlab: [
    [`intent: label 42#12/label@${AT}`, gitlabIssue({}, labelled)],
    [
      'ignored: no-trigger',
      gitlabIssue({}, { labels: [LABEL], changes: { labels: { previous: [LABEL], current: [LABEL] } } }),
    ],
    ['ignored: no-trigger', gitlabIssue({}, { labels: [LABEL], changes: { title: { previous: 'a', current: 'b' } } })],
    [`intent: label 42#12/label@${AT}`, gitlabIssue({ action: 'open' }, { labels: [LABEL] })],
    ['ignored: closed', gitlabIssue({ state: 'closed' }, labelled)],
    ['ignored: closed', gitlabIssue({ action: 'close', state: 'closed' })],
    ['ignored: own-act', gitlabIssue({}, { ...labelled, user: { id: 999, username: 'slipway' } })],
    ['ignored: bot', gitlabIssue({}, { ...labelled, user: { id: 55, username: 'project_42_bot_af31' } })],
    [
      `intent: label 42#12/label@${AT}`,
      gitlabIssue({}, { ...labelled, user: { id: 55, username: 'project_42_bot_af31' } }),
      { bots: ['55'] },
    ],
    ['ignored: confidential-off', gitlabIssue({ confidential: true }, labelled)],
    ['ignored: confidential-off', gitlabIssue({}, { ...labelled, event_type: 'confidential_issue' })],
    [`intent: label 42#12/label@${AT}`, gitlabIssue({ confidential: true }, labelled), { confidential: true }],
    [
      `intent: assignment 42#12/assignment@${AT}`,
      gitlabIssue({}, { changes: { assignees: { previous: [], current: [{ id: 999 }] } } }),
    ],
    [
      'ignored: no-trigger',
      gitlabIssue({}, { changes: { assignees: { previous: [{ id: 999 }], current: [{ id: 999 }, { id: 8 }] } } }),
    ],
    ['intent: mention 42#12/opened', gitlabIssue({ action: 'open', description: '@slipway please' })],
    ['ignored: no-trigger', gitlabIssue({ description: '@slipway please' })],
    ['intent: mention 42#12/note/900', gitlabNote('@slipway go')],
    ['intent: mention 42#12/note/900', gitlabNote('@slipway go', { action: null })],
    ['ignored: edited', gitlabNote('@slipway go', { action: 'update' })],
    ['ignored: system-note', gitlabNote('mentioned in @slipway', { system: true })],
    ['ignored: confidential-off', gitlabNote('@slipway go', { internal: true })],
    ['ignored: confidential-off', gitlabNote('@slipway go', {}, { event_type: 'confidential_note' })],
    [
      'ignored: confidential-off',
      gitlabNote('@slipway go', {}, { issue: { id: 500, iid: 12, title: 'Cart', confidential: true } }),
    ],
    ['ignored: own-act', gitlabNote('@slipway <!-- slipway:c1 -->')],
    ['ignored: quoted-only', gitlabNote('> @slipway go')],
    ['ignored: event-not-followed', gitlabNote('@slipway go', { noteable_type: 'Commit' }, { issue: null })],
    ['intent: mention 42!13/note/900', gitlabNote('@slipway go', { noteable_type: 'MergeRequest' }, onMerge)],
    [
      'intent: review-comment 42!13/note/900',
      gitlabNote('why?', { noteable_type: 'MergeRequest', type: 'DiffNote' }, onMerge),
      OURS,
    ],
    ['ignored: no-trigger', gitlabNote('why?', { noteable_type: 'MergeRequest' }, onMerge), OURS],
    [`intent: label 42!13/label@${AT}`, merge({ action: 'update' }, labelled)],
    [
      `intent: assignment 42!13/assignment@${AT}`,
      merge({ action: 'update' }, { changes: { reviewers: { previous: [], current: [{ id: 999 }] } } }),
    ],
    ['outcome: #13 changed', merge({ action: 'update', oldrev: 'aaa' })],
    ['ignored: no-trigger', merge({ action: 'update' })],
    ['outcome: #13 merged', merge({ action: 'merge', state: 'merged' })],
    ['outcome: #13 closed', merge({ action: 'close', state: 'closed' })],
    ['outcome: #13 reopened', merge({ action: 'reopen' })],
    ['outcome: #13 changed', merge({ action: 'update', source_branch: 'slipway/cart' })],
    ['outcome: #13 changed', merge({ action: 'approved' })],
    ['outcome: #13 changed', merge({ action: 'unapproval' })],
    ['ignored: event-not-followed', merge({ action: 'x' })],
    ['outcome: slipway/cart failure', gitlabBody('pipeline', { status: 'failed', ref: 'slipway/cart', sha: 'abc' })],
    [
      'outcome: fix success',
      gitlabBody(
        'pipeline',
        { status: 'success', ref: 'refs/merge-requests/13/head', sha: 'abc' },
        { merge_request: { source_branch: 'fix' } },
      ),
    ],
    ['ignored: no-trigger', gitlabBody('pipeline', { status: 'failed', ref: 'v1', sha: 'abc', tag: true })],
    ['outcome: main pending', gitlabBody('pipeline', { status: 'running', ref: 'main', sha: 'abc' })],
    ['ignored: no-trigger', gitlabBody('pipeline', { status: 'toString', ref: 'main', sha: 'abc' })],
    ['ignored: event-not-followed', { object_kind: '__proto__' }],
  ],
  slack: [
    ['intent: mention T1/C1/1760000000.000100', slackMessage({ type: 'app_mention', text: '<@999> go' })],
    ['intent: mention T1/C1/1760000000.000100', slackMessage({ text: '<@999> go', client_msg_id: undefined })],
    ['ignored: quoted-only', slackMessage({ type: 'app_mention', text: '`<@999>` go' })],
    ['ignored: no-trigger', slackMessage({ text: 'just talk' }), OURS],
    [
      'intent: thread-reply T1/C1/1760000000.000100',
      slackMessage({ text: 'and this', thread_ts: '1760000000.000001' }),
      OURS,
    ],
    ['ignored: no-trigger', slackMessage({ text: 'and this', thread_ts: '1760000000.000001' })],
    [
      'intent: thread-reply T1/C1/1760000000.000100',
      slackMessage({ text: 'see', thread_ts: '1.1', subtype: 'file_share' }),
      OURS,
    ],
    [
      'intent: thread-reply T1/C1/1760000000.000100',
      slackMessage({ text: 'see', thread_ts: '1.1', subtype: 'thread_broadcast' }),
      OURS,
    ],
    ['intent: stop T1/C1/1760000000.000100', slackMessage({ text: 'stop', thread_ts: '1.1' }), OURS],
    ['ignored: edited', slackMessage({ subtype: 'message_changed', text: '<@999> go' })],
    ['ignored: deleted', slackMessage({ subtype: 'message_deleted' })],
    ['ignored: system-note', slackMessage({ subtype: 'channel_join', text: '<@999> has joined' })],
    ['ignored: bot', slackMessage({ subtype: 'bot_message', bot_id: 'B2', user: undefined, text: '<@999> go' })],
    ['ignored: bot', slackMessage({ user: 'USLACKBOT', text: '<@999> go' })],
    ['ignored: own-act', slackMessage({ user: '999', bot_id: 'B1', text: '<@999> go' })],
    ['ignored: own-act', slackMessage({ bot_id: '999', text: '<@999> go' })],
    ['intent: direct-message T1/D1/1760000000.000100', slackMessage({ channel: 'D1', channel_type: 'im', text: 'go' })],
    ['intent: button T1/C1/1760000000.000200/approve@1760000001.1', slackPressed()],
    [
      'intent: button T1/C1/1760000000.000200/approve@1760000001.1',
      slackPressed({
        actions: [{ action_id: 'approve', action_ts: '1760000001.1', selected_option: { value: 'acme/shop' } }, {}],
      }),
    ],
    [
      'intent: button T1/C1/1760000000.000200/slipway.press.stop@1760000001.1',
      slackPressed({ actions: [{ action_id: 'slipway.press.stop', action_ts: '1760000001.1' }] }),
    ],
    ['ignored: no-trigger', slackPressed({ container: { type: 'view' } })],
    ['ignored: unreadable', slackPressed({ actions: [] })],
    ['ignored: event-not-followed', slackPressed({ type: 'block_suggestion' })],
    ['challenge: 3eZbrw', { type: 'url_verification', challenge: '3eZbrw' }],
    ['lifecycle: removed T1', slackMessage({ type: 'app_uninstalled' })],
    ['lifecycle: removed T1', slackMessage({ type: 'tokens_revoked', tokens: { bot: ['U9'] } })],
    ['lifecycle: authorization-revoked', slackMessage({ type: 'tokens_revoked', tokens: { oauth: ['U7'] } })],
    ['ignored: event-not-followed', slackMessage({ type: 'app_home_opened' })],
    ['ignored: event-not-followed', { type: 'app_rate_limited', team_id: 'T1' }],
  ],
  jira: [
    ['intent: label 10001/changelog/77', jiraChange({ field: 'labels', fromString: 'bug', toString: 'bug slipway' })],
    ['ignored: no-trigger', jiraChange({ field: 'labels', fromString: 'slipway', toString: 'slipway bug' })],
    ['ignored: no-trigger', jiraChange({ field: 'labels', fromString: 'bug' })],
    ['ignored: no-trigger', jiraChange({ field: 'labels', fromString: '', toString: 'slipway-old' })],
    ['intent: assignment 10001/changelog/77', jiraChange({ field: 'assignee', from: null, to: '999' })],
    ['ignored: no-trigger', jiraChange({ field: 'assignee', from: '999', to: null })],
    ['intent: label 10001/created', jiraBody('jira:issue_created', { issue: jiraIssue({ labels: ['slipway'] }) })],
    [
      'intent: assignment 10001/created',
      jiraBody('jira:issue_created', { issue: jiraIssue({ assignee: { accountId: '999' } }) }),
    ],
    [
      'intent: mention 10001/created',
      jiraBody('jira:issue_created', { issue: jiraIssue({ description: '[~accountid:999] please' }) }),
    ],
    [
      'ignored: closed',
      {
        ...jiraChange({ field: 'labels', fromString: '', toString: 'slipway' }),
        issue: jiraIssue({ status: { statusCategory: { key: 'done' } } }),
      },
    ],
    [
      'ignored: own-act',
      { ...jiraChange({ field: 'labels', fromString: '', toString: 'slipway' }), user: { accountId: '999' } },
    ],
    [
      'ignored: bot',
      {
        ...jiraChange({ field: 'labels', fromString: '', toString: 'slipway' }),
        user: { accountId: 'x', accountType: 'app' },
      },
    ],
    [
      'ignored: unreadable',
      { ...jiraChange({ field: 'labels', fromString: '', toString: 'slipway' }), user: { displayName: 'Ann' } },
    ],
    ['intent: mention 10001/comment/900', jiraBody('comment_created', { comment: jiraComment('[~accountid:999] go') })],
    [
      'intent: mention 10001/comment/900',
      jiraBody('comment_created', {
        comment: jiraComment('[~slipway] go', { author: { key: 'JIRAUSER1', name: 'ann' } }),
      }),
    ],
    ['intent: mention 10001/comment/900', jiraBody('comment_created', { comment: jiraComment('@slipway go') })],
    [
      'intent: mention 10001/comment/900',
      jiraBody('comment_created', { comment: jiraComment(adf(paragraph(mention, words(' go')))) }),
    ],
    [
      'intent: stop 10001/comment/900',
      jiraBody('comment_created', { comment: jiraComment(adf(paragraph(mention, words(' stop')))) }),
    ],
    [
      'ignored: quoted-only',
      jiraBody('comment_created', { comment: jiraComment(adf({ type: 'blockquote', content: [paragraph(mention)] })) }),
    ],
    [
      'ignored: quoted-only',
      jiraBody('comment_created', {
        comment: jiraComment(adf({ type: 'codeBlock', content: [words('@slipway go')] })),
      }),
    ],
    [
      'ignored: quoted-only',
      jiraBody('comment_created', { comment: jiraComment(adf(paragraph(words('@slipway', 'code')))) }),
    ],
    ['ignored: no-trigger', jiraBody('comment_created', { comment: jiraComment('go on') }), OURS],
    [
      'intent: mention 10001/comment/900',
      jiraBody('jira:issue_updated', { comment: jiraComment('@slipway go'), issue_event_type_name: 'issue_commented' }),
    ],
    [
      'ignored: no-trigger',
      jiraBody('jira:issue_updated', {
        comment: jiraComment('@slipway go'),
        issue_event_type_name: 'issue_comment_edited',
      }),
    ],
    ['ignored: edited', jiraBody('comment_updated', { comment: jiraComment('@slipway go') })],
    ['ignored: deleted', jiraBody('comment_deleted', { comment: jiraComment('@slipway go') })],
    ['ignored: deleted', jiraBody('jira:issue_deleted')],
    ['ignored: event-not-followed', jiraBody('jira:worklog_updated')],
  ],
  linear: [
    ['intent: agent-session session/s-1', linearSession('created')],
    ['intent: agent-session session/s-1/a-1', linearPrompt('go on')],
    ['intent: stop session/s-1/a-1', linearPrompt('', 'stop')],
    ['intent: stop session/s-1/a-1', linearPrompt('stop')],
    ['ignored: unreadable', linearSession('prompted')],
    ['ignored: own-act', { ...linearPrompt('go'), appUserId: 'u-7' }],
    [
      `intent: label issue/i-1@${AT}`,
      linearEntity('Issue', 'update', linearIssue({ labels: [LINEAR_LABEL] }), { updatedFrom: { labelIds: [] } }),
    ],
    [
      'ignored: no-trigger',
      linearEntity('Issue', 'update', linearIssue({ labels: [LINEAR_LABEL] }), { updatedFrom: { labelIds: ['l-1'] } }),
    ],
    [
      'ignored: no-trigger',
      linearEntity('Issue', 'update', linearIssue({ labels: [LINEAR_LABEL] }), { updatedFrom: { title: 'Old' } }),
    ],
    [
      'ignored: no-trigger',
      linearEntity('Issue', 'update', linearIssue({ labels: [LINEAR_LABEL], updatedFrom: { labelIds: [] } })),
    ],
    [`intent: label issue/i-1@${AT}`, linearEntity('Issue', 'create', linearIssue({ labels: [LINEAR_LABEL] }))],
    [
      `intent: assignment issue/i-1@${AT}`,
      linearEntity('Issue', 'update', linearIssue({ assigneeId: '999' }), { updatedFrom: { assigneeId: null } }),
    ],
    [
      `intent: assignment issue/i-1@${AT}`,
      linearEntity('Issue', 'update', linearIssue({ delegateId: '999' }), { updatedFrom: { delegateId: 'u-2' } }),
    ],
    [
      'ignored: no-trigger',
      linearEntity('Issue', 'update', linearIssue({ assigneeId: '999' }), { updatedFrom: { title: 'Old' } }),
    ],
    [
      'ignored: closed',
      linearEntity('Issue', 'update', linearIssue({ assigneeId: '999', state: { type: 'completed' } }), {
        updatedFrom: { assigneeId: null },
      }),
    ],
    [
      'ignored: own-act',
      linearEntity('Issue', 'update', linearIssue({ assigneeId: '999' }), {
        updatedFrom: { assigneeId: null },
        actor: { id: '999', type: 'user' },
      }),
    ],
    [
      'ignored: bot',
      linearEntity('Issue', 'update', linearIssue({ assigneeId: '999' }), {
        updatedFrom: { assigneeId: null },
        actor: { id: 'c-2', type: 'oauthClient' },
      }),
    ],
    [
      `intent: mention issue/i-1@${AT}`,
      linearEntity('Issue', 'create', linearIssue({ description: '@slipway please' })),
    ],
    ['ignored: deleted', linearEntity('Issue', 'remove', linearIssue())],
    [
      'intent: mention comment/cm-1',
      linearEntity('Comment', 'create', { id: 'cm-1', body: '@slipway go', issue: linearIssue() }),
    ],
    ['ignored: no-trigger', linearEntity('Comment', 'create', { id: 'cm-1', body: 'go', issue: linearIssue() })],
    [
      'ignored: bot',
      linearEntity('Comment', 'create', { id: 'cm-1', body: '@slipway go', issue: linearIssue(), botActor: '{}' }),
    ],
    ['ignored: edited', linearEntity('Comment', 'update', { id: 'cm-1', body: '@slipway go', issue: linearIssue() })],
    ['ignored: deleted', linearEntity('Comment', 'remove', { id: 'cm-1', body: '@slipway go', issue: linearIssue() })],
    [
      'lifecycle: access-changed o-1',
      {
        type: 'PermissionChange',
        action: 'teamAccessChanged',
        organizationId: 'o-1',
        addedTeamIds: [],
        removedTeamIds: [],
      },
    ],
    ['lifecycle: removed o-1', { type: 'OAuthApp', action: 'revoked', organizationId: 'o-1' }],
    [
      'lifecycle: authorization-revoked',
      { type: 'OAuthAuthorization', action: 'revoked', organizationId: 'o-1', userId: 'u-7' },
    ],
    ['ignored: event-not-followed', { type: 'AppUserNotification', action: 'issueMention', organizationId: 'o-1' }],
  ],
};

/** As it comes: through JSON. */
const read = (provider: keyof typeof ROWS, body: Json, context?: Partial<ReadingContext>): Reading =>
  PROVIDERS[provider].read({ headers: {}, body: JSON.parse(JSON.stringify(body)) }, contextWith(context));

for (const [provider, rows] of Object.entries(ROWS) as [keyof typeof ROWS, readonly Row[]][]) {
  describe(`deliveries of ${provider}`, () => {
    rows.forEach(([expected, body, context], index) => {
      const event = PROVIDERS[provider].eventName({ headers: {}, body });
      it(`${event} (row ${index + 1}) are read as ${expected}`, () =>
        expect(summary(read(provider, body, context))).toBe(expected));
    });
  });
}

describe('an intent', () => {
  const intentOf = (provider: keyof typeof ROWS, body: Json, context?: Partial<ReadingContext>) => {
    const reading = read(provider, body, context);
    if (reading.kind !== 'intent') throw new Error(summary(reading));
    return reading.intent;
  };

  it('has one semantic key for the two deliveries of one event, whatever else differs', () => {
    const twice: readonly [keyof typeof ROWS, Json, Json][] = [
      // A group's and a project's hook.
      ['gitlab', gitlabNote('@slipway go'), { ...gitlabNote('@slipway go'), repository: { name: 'shop' } }],
      [
        'slack',
        slackMessage({ type: 'app_mention', text: '<@999> go', channel_type: undefined }),
        { ...slackMessage({ text: '<@999> go' }), event_id: 'Ev2' },
      ],
      [
        'jira',
        jiraBody('comment_created', { comment: jiraComment('@slipway go') }),
        jiraBody('jira:issue_updated', {
          comment: jiraComment('@slipway go'),
          issue_event_type_name: 'issue_commented',
        }),
      ],
      [
        'linear',
        linearSession('created'),
        { ...linearSession('created'), webhookId: 'w-2', webhookTimestamp: 1_760_000_060_000 },
      ],
    ];
    for (const [provider, one, other] of twice)
      expect(intentOf(provider, one).semanticKey).toBe(intentOf(provider, other).semanticKey);
  });

  it('says that a user of another Slack workspace is foreign', () => {
    expect(intentOf('slack', slackMessage({ text: '<@999> go', user_team: 'T2' })).actor.foreign).toBe(true);
    expect(intentOf('slack', slackMessage({ text: '<@999> go' })).actor.foreign).toBe(undefined);
    expect(intentOf('slack', slackPressed({ user: { id: 'U7', team_id: 'T2' } })).actor.foreign).toBe(true);
  });

  it('says that what is not public is confidential', () => {
    const confidential = (provider: keyof typeof ROWS, body: Json) =>
      intentOf(provider, body, { confidential: true }).thread.confidential;
    expect(confidential('gitlab', gitlabNote('@slipway go', { internal: true }))).toBe(true);
    expect(confidential('gitlab', gitlabNote('@slipway go'))).toBe(false);
    expect(confidential('slack', slackMessage({ text: '<@999> go', channel_type: 'group' }))).toBe(true);
    expect(confidential('slack', slackMessage({ text: '<@999> go' }))).toBe(false);
    expect(
      confidential(
        'jira',
        jiraBody('comment_created', {
          comment: jiraComment('@slipway go', { visibility: { type: 'role', value: 'Developers' } }),
        }),
      ),
    ).toBe(true);
    expect(
      confidential(
        'jira',
        jiraBody('comment_created', {
          comment: jiraComment('@slipway go'),
          issue: jiraIssue({ security: { id: '1' } }),
        }),
      ),
    ).toBe(true);
  });

  it('says that a merge request of GitLab is of a fork when its source is another project, or none any more', () => {
    const forkOf = (source: unknown) =>
      intentOf(
        'gitlab',
        gitlabNote('@slipway go', {}, { issue: null, merge_request: { ...gitlabMerge, source_project_id: source } }),
      ).pullRequest?.fork;
    expect([forkOf(42), forkOf(43), forkOf(null)]).toEqual([false, true, true]);
  });

  it('of Jira leads to the page of its issue, also below a path', () => {
    const url = (self: string) =>
      intentOf('jira', {
        ...jiraBody('comment_created', { comment: jiraComment('@slipway go') }),
        issue: { ...jiraIssue(), self },
      }).thread.url;
    expect(url('https://acme.atlassian.net/rest/api/2/issue/10001')).toBe('https://acme.atlassian.net/browse/SHOP-12');
    expect(url('https://jira.acme.example/jira/rest/api/2/issue/10001')).toBe(
      'https://jira.acme.example/jira/browse/SHOP-12',
    );
  });
});

describe('a delivery', () => {
  it('names itself, and the same when it is sent again', () => {
    const headers = {
      'x-github-delivery': 'gh',
      'x-gitea-delivery': 'gt',
      'idempotency-key': 'gl',
      'x-atlassian-webhook-identifier': 'jr',
      'linear-delivery': 'ln',
    };
    const ids = Object.values(PROVIDERS).map((provider) => provider.deliveryId({ headers, body: slackMessage({}) }));
    expect(ids).toEqual(['gh', 'gl', 'gt', 'Ev1', 'jr', 'ln']);
    expect(PROVIDERS.slack.deliveryId({ headers: {}, body: slackPressed() })).toBe('tr1');
    const old = { headers: { 'x-gitlab-event-uuid': 'e-1' }, body: gitlabNote('x', { updated_at: AT }) };
    expect(PROVIDERS.gitlab.deliveryId(old)).toBe(`e-1/900/${AT}`);
    expect(PROVIDERS.linear.deliveryId({ headers: {}, body: { webhookId: 'w-1' } })).toBe(null);
  });

  it('of a platform-wide app names its account; another is found by its address alone', () => {
    const body = { installation: { id: 5 }, team_id: 'T1', organizationId: 'o-1' };
    const accounts = Object.entries(PROVIDERS).map(([id, provider]) => [
      id,
      provider.tenant.account({ headers: {}, body }),
    ]);
    expect(Object.fromEntries(accounts)).toEqual({
      github: '5',
      gitlab: null,
      gitea: null,
      slack: 'T1',
      jira: null,
      linear: 'o-1',
    });
    expect(PROVIDERS.slack.tenant.account({ headers: {}, body: slackPressed() })).toBe('T1');
  });
});
