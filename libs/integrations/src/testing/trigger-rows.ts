import type { ReadingContext } from '../provider.js';
import { type Json } from './deliveries.js';
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
} from './samples.js';

export type Row = readonly [expected: string, body: Json, context?: Partial<ReadingContext>];
export const OURS: Partial<ReadingContext> = { ours: () => true };
export const AT = '2026-11-23T10:00:00.000Z';
export const LABEL = { id: 3, title: 'slipway', name: 'Slipway' };
export const LINEAR_LABEL = { id: 'l-1', name: 'SLIPWAY' };
export const adf = (...content: Json[]): Json => ({ version: 1, type: 'doc', content });
export const paragraph = (...content: Json[]): Json => ({ type: 'paragraph', content });
export const words = (text: string, ...marks: string[]): Json => ({
  type: 'text',
  text,
  marks: marks.map((type) => ({ type })),
});
export const mention = { type: 'mention', attrs: { id: '999', text: '@Slipway' } };

export const gitlabIssue = (attributes: Json, change: Json = {}): Json =>
  gitlabBody('issue', { action: 'update', ...attributes }, change);
export const merge = (attributes: Json, change: Json = {}): Json =>
  gitlabBody('merge_request', { ...gitlabMerge, updated_at: AT, ...attributes }, change);
export const labelled = {
  changes: { labels: { previous: [{ id: 1, title: 'bug' }], current: [{ id: 1, title: 'bug' }, LABEL] } },
};
export const onMerge = { issue: null, merge_request: gitlabMerge };

/** What a delivery comes to, by provider. */
export const ROWS: Readonly<Record<'gitlab' | 'slack' | 'jira' | 'linear', readonly Row[]>> = {
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
