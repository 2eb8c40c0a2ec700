import type { AgentSessionEventWebhookPayload } from '@linear/sdk/webhooks';
import type { Json } from './deliveries.js';

/**
 * Bodies of providers whose events are named in them. Ours, by the field lists of each vendor's documentation or types.
 */

const AT = '2026-11-23T10:00:00.000Z';

export const gitlabBody = (kind: string, attributes: Json, change: Json = {}): Json => ({
  object_kind: kind,
  user: { id: 7, username: 'ann' },
  project: { id: 42, path_with_namespace: 'acme/shop', default_branch: 'main', visibility_level: 0 },
  object_attributes: {
    id: 500,
    iid: 12,
    title: 'Cart is empty',
    description: 'Steps',
    url: 'https://gitlab.example/i/12',
    state: 'opened',
    updated_at: AT,
    ...attributes,
  },
  ...change,
});

export const gitlabMerge: Json = {
  id: 600,
  iid: 13,
  title: 'Fill the cart',
  description: '',
  state: 'opened',
  source_branch: 'fix',
  target_branch: 'main',
  source_project_id: 42,
  target_project_id: 42,
  last_commit: { id: 'abc' },
};

export const gitlabNote = (note: string, attributes: Json = {}, change: Json = {}): Json =>
  gitlabBody(
    'note',
    { id: 900, note, noteable_type: 'Issue', action: 'create', system: false, ...attributes },
    { issue: { id: 500, iid: 12, title: 'Cart', state: 'opened' }, ...change },
  );

export const slackMessage = (event: Json, change: Json = {}): Json => ({
  type: 'event_callback',
  team_id: 'T1',
  api_app_id: 'A1',
  event_id: 'Ev1',
  event_time: 1_760_000_000,
  event: {
    type: 'message',
    user: 'U7',
    text: 'hello',
    ts: '1760000000.000100',
    channel: 'C1',
    channel_type: 'channel',
    team: 'T1',
    ...event,
  },
  ...change,
});

export const slackPressed = (change: Json = {}): Json => ({
  type: 'block_actions',
  trigger_id: 'tr1',
  user: { id: 'U7', username: 'ann', team_id: 'T1' },
  team: { id: 'T1' },
  container: { type: 'message', channel_id: 'C1', message_ts: '1760000000.000200', thread_ts: '1760000000.000100' },
  actions: [{ action_id: 'approve', action_ts: '1760000001.1', value: 'yes' }],
  ...change,
});

export const jiraIssue = (change: Json = {}): Json => ({
  id: '10001',
  key: 'SHOP-12',
  self: 'https://acme.atlassian.net/rest/api/2/issue/10001',
  fields: {
    summary: 'Cart is empty',
    description: 'Steps',
    labels: [],
    status: { statusCategory: { key: 'new' } },
    assignee: null,
    reporter: { accountId: '557058:ann', displayName: 'Ann' },
    ...change,
  },
});
export const jiraBody = (event: string, change: Json = {}): Json => ({
  webhookEvent: event,
  timestamp: 1_760_000_000_000,
  user: { accountId: '557058:ann', displayName: 'Ann', accountType: 'atlassian' },
  issue: jiraIssue(),
  ...change,
});
export const jiraComment = (body: unknown, change: Json = {}): Json => ({
  id: '900',
  body,
  author: { accountId: '557058:ann', displayName: 'Ann', accountType: 'atlassian' },
  created: AT,
  ...change,
});
export const jiraChange = (...items: Json[]): Json =>
  jiraBody('jira:issue_updated', { changelog: { id: '77', items } });

const linearUser = { id: 'u-7', name: 'Ann', email: 'ann@acme.example', url: 'https://linear.app/acme/profiles/ann' };
export const linearSession = (action: string, change: Partial<AgentSessionEventWebhookPayload> = {}): Json => {
  const team = { id: 't-1', key: 'SHOP', name: 'Shop' };
  const issue = {
    id: 'i-1',
    identifier: 'SHOP-12',
    title: 'Cart is empty',
    description: 'Steps',
    url: 'https://linear.app/acme/issue/SHOP-12',
    team,
    teamId: 't-1',
  };
  // Held to the vendor's own types.
  const body: AgentSessionEventWebhookPayload = {
    type: 'AgentSessionEvent',
    action,
    appUserId: '999',
    oauthClientId: 'c-1',
    organizationId: 'o-1',
    webhookId: 'w-1',
    webhookTimestamp: 1_760_000_000_000,
    createdAt: new Date(AT),
    agentSession: {
      id: 's-1',
      appUserId: '999',
      organizationId: 'o-1',
      status: 'pending',
      type: 'commentThread',
      createdAt: AT,
      updatedAt: AT,
      creatorId: 'u-7',
      creator: linearUser,
      issueId: 'i-1',
      issue,
      comment: { id: 'cm-1', body: '@slipway fix it', userId: 'u-7' },
      url: 'https://linear.app/acme/agent/s-1',
    },
    ...change,
  };
  return JSON.parse(JSON.stringify(body)) as Json;
};
export const linearPrompt = (body: string, signal: string | null = null): Json =>
  linearSession('prompted', {
    agentActivity: {
      id: 'a-1',
      agentSessionId: 's-1',
      content: { type: 'prompt', body },
      createdAt: AT,
      updatedAt: AT,
      signal,
      user: linearUser,
      userId: 'u-7',
    },
  });
export const linearEntity = (type: string, action: string, data: Json, change: Json = {}): Json => ({
  type,
  action,
  actor: { id: 'u-7', name: 'Ann', type: 'user', email: 'ann@acme.example' },
  organizationId: 'o-1',
  webhookId: 'w-1',
  webhookTimestamp: 1_760_000_000_000,
  createdAt: AT,
  url: 'https://linear.app/acme/issue/SHOP-12',
  data,
  ...change,
});
export const linearIssue = (change: Json = {}): Json => ({
  id: 'i-1',
  identifier: 'SHOP-12',
  title: 'Cart is empty',
  description: 'Steps',
  team: { id: 't-1', key: 'SHOP' },
  state: { type: 'unstarted' },
  labels: [],
  updatedAt: AT,
  createdAt: AT,
  creator: linearUser,
  ...change,
});

/** One or more of each kind, for tests that change any part of them. */
export const SAMPLES: readonly { readonly provider: string; readonly body: Json }[] = [
  {
    provider: 'gitlab',
    body: gitlabBody(
      'issue',
      { action: 'update' },
      { changes: { labels: { previous: [], current: [{ id: 3, title: 'bug' }] } } },
    ),
  },
  {
    provider: 'gitlab',
    body: gitlabBody(
      'merge_request',
      { ...gitlabMerge, action: 'update', oldrev: 'aaa' },
      { changes: { reviewers: { previous: [], current: [{ id: 999 }] } } },
    ),
  },
  { provider: 'gitlab', body: gitlabNote('@slipway go') },
  { provider: 'gitlab', body: gitlabBody('pipeline', { status: 'failed', ref: 'slipway/cart', sha: 'abc' }) },
  { provider: 'slack', body: slackMessage({ type: 'app_mention', text: '<@999> go' }) },
  { provider: 'slack', body: slackMessage({ thread_ts: '1760000000.000001', files: [], blocks: [] }) },
  { provider: 'slack', body: slackMessage({ type: 'tokens_revoked', tokens: { oauth: ['U7'], bot: ['U9'] } }) },
  { provider: 'slack', body: slackPressed() },
  { provider: 'jira', body: jiraBody('jira:issue_created') },
  { provider: 'jira', body: jiraChange({ field: 'labels', fromString: 'a b', toString: 'a b bug' }) },
  {
    provider: 'jira',
    body: jiraBody('comment_created', {
      comment: jiraComment({
        type: 'doc',
        content: [{ type: 'paragraph', content: [{ type: 'text', text: '@slipway go' }] }],
      }),
    }),
  },
  { provider: 'linear', body: linearSession('created') },
  { provider: 'linear', body: linearPrompt('go on') },
  {
    provider: 'linear',
    body: linearEntity('Issue', 'update', linearIssue({ labels: [{ id: 'l', name: 'bug' }] }), {
      updatedFrom: { labelIds: [] },
    }),
  },
  {
    provider: 'linear',
    body: linearEntity('Comment', 'create', { id: 'cm-1', body: '@slipway go', issue: linearIssue() }),
  },
];
