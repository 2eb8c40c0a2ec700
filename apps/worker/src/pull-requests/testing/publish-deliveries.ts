import type { HostName } from './publish-world.js';

type Delivered = readonly [event: string, body: object];

export interface Deliveries {
  /** Asks for the work, in the issue. */
  readonly mention: Delivered;
  readonly comment: (id: number, body: string) => Delivered;
  readonly pull: (action: 'closed' | 'reopened' | 'pushed', number: number) => Delivered;
}

export const ISSUE = 3;
const AT = '2026-11-24T03:00:00Z';
const TITLE = 'Total is wrong';

function giteaDeliveries(): Deliveries {
  const repository = { id: 1, full_name: 'acme/shop', private: true, default_branch: 'main' };
  const sender = { id: 7, login: 'mia' };
  const issue = {
    id: 30,
    number: ISSUE,
    title: TITLE,
    body: '',
    state: 'open',
    user: sender,
    created_at: AT,
    updated_at: AT,
  };
  const comment = (id: number, body: string): Delivered => [
    'issue_comment',
    { action: 'created', issue, repository, sender, comment: { id, body, user: sender, created_at: AT } },
  ];
  const refs = { head: { ref: 'slipway/x', repo: { id: 1 } }, base: { ref: 'main', repo: { id: 1 } } };
  return {
    comment,
    mention: comment(11, '@slipway mend the total'),
    pull: (action, number) => [
      'pull_request',
      {
        action: action === 'pushed' ? 'synchronized' : action,
        repository,
        sender,
        pull_request: { ...issue, id: 40, number, merged: false, ...refs },
      },
    ],
  };
}

function gitlabDeliveries(): Deliveries {
  const project = { id: 1, path_with_namespace: 'acme/shop', default_branch: 'main', visibility_level: 0 };
  const user = { id: 7, username: 'mia', name: 'mia' };
  const about = {
    title: TITLE,
    description: '',
    state: 'opened',
    url: 'https://host.test/3',
    author_id: 7,
    created_at: AT,
    updated_at: AT,
  };
  const issue = { ...about, id: 30, iid: ISSUE, confidential: false };
  const refs = { source_branch: 'slipway/x', target_branch: 'main', source_project_id: 1, target_project_id: 1 };
  const comment = (id: number, note: string): Delivered => {
    const attributes = {
      id,
      note,
      noteable_type: 'Issue',
      type: 'DiscussionNote',
      internal: false,
      system: false,
      action: 'create',
      created_at: AT,
    };
    return [
      'Note Hook',
      {
        object_kind: 'note',
        event_type: 'note',
        user,
        project,
        object_attributes: { ...attributes, url: about.url },
        issue,
      },
    ];
  };
  const actions = {
    closed: { action: 'close' },
    reopened: { action: 'reopen' },
    pushed: { action: 'update', oldrev: 'a'.repeat(40) },
  };
  return {
    comment,
    mention: comment(11, '@slipway mend the total'),
    pull: (action, number) => {
      const attributes = {
        ...about,
        id: 40,
        iid: number,
        ...refs,
        last_commit: { id: '' },
        draft: false,
        ...actions[action],
      };
      const none = { labels: [], assignees: [], changes: {} };
      return [
        'Merge Request Hook',
        {
          object_kind: 'merge_request',
          event_type: 'merge_request',
          user,
          project,
          ...none,
          object_attributes: attributes,
        },
      ];
    },
  };
}

export const DELIVERIES: Readonly<Record<HostName, Deliveries>> = {
  gitea: giteaDeliveries(),
  gitlab: gitlabDeliveries(),
};
