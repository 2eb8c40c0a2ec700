import { describe, expect, it } from '@jest/globals';
import type { Reading } from '../intent.js';
import type { ReadingContext } from '../provider.js';
import { contextWith, type Json, summary } from '../testing/deliveries.js';
import {
  gitlabMerge,
  gitlabNote,
  jiraBody,
  jiraComment,
  jiraIssue,
  linearSession,
  slackMessage,
  slackPressed,
} from '../testing/samples.js';
import { AT, ROWS, Row } from '../testing/trigger-rows.js';
import { PROVIDERS } from './index.js';

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
