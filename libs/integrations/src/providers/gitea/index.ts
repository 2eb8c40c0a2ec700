import { forgeAnswers, forgeSubject } from '../../answers/forge-answers.js';
import { forgeHooks } from '../../calls/repository-hooks.js';
import { giteaLines, readForgeThread } from '../../calls/thread-reading.js';
import { headerOf } from '../../delivery.js';
import type { CodeHostAccess, Provider } from '../../provider.js';
import { headerName, ignored, own, plainName, readerOf } from '../../reading/reading.js';
import { giteaCalls } from './calls.js';
import { GITEA_EVENTS } from './events.js';
import { giteaLinking } from './linking.js';
import { giteaOAuth } from './oauth.js';

const access: CodeHostAccess = {
  authorization: (token) => `token ${token}`,
  gitUser: 'slipway',
  pullRequestTemplates: [
    'pull_request_template.md',
    '.gitea/pull_request_template.md',
    '.forgejo/pull_request_template.md',
    '.github/pull_request_template.md',
  ],
  noreply: ({ login }, host) => `${login}@noreply.${URL.parse(`http://${host}`)?.hostname ?? 'invalid'}`,
  apiUrl: (baseUrl) => `${baseUrl}/api/v1`,
  calls: giteaCalls,
  subjectOf: forgeSubject,
  hooks: (client) => forgeHooks(client, { type: { type: 'gitea' }, events: GITEA_HOOK_EVENTS, changesSecret: false }),
};

/** What `GITEA_EVENTS` reads. */
const GITEA_HOOK_EVENTS = [
  ...['issues', 'issue_assign', 'issue_label', 'issue_comment'],
  ...[
    'pull_request',
    'pull_request_assign',
    'pull_request_label',
    'pull_request_comment',
    'pull_request_review',
    'pull_request_sync',
    'status',
    'workflow_run',
  ],
];

/**
 * Gitea and Forgejo. It sends GitHub's headers too: which provider a delivery is of is decided by its address alone.
 */
export const gitea: Provider = {
  id: 'gitea',
  name: 'Gitea',
  does: ['code', 'tickets'],
  host: null,
  connections: [
    { kind: 'oauth', name: 'OAuth2 application', signature: 'sha256' },
    { kind: 'token', name: 'Access token', signature: 'sha256' },
  ],
  signatures: {
    sha256: { kind: 'hmac-sha256', header: 'x-gitea-signature', encoding: 'hex', key: 'utf8', signed: ['body'] },
  },
  maxBytes: 25 * 1024 * 1024,
  form: true,
  tenant: { account: () => null },
  deliveryId: (delivery) => headerOf(delivery, 'x-gitea-delivery') ?? null,
  eventName: (delivery) =>
    [headerName(delivery, 'x-gitea-event') ?? 'unknown', plainName(own(delivery.body, 'action'))]
      .filter(Boolean)
      .join('.'),
  read: (delivery, context) => {
    const reader = readerOf(GITEA_EVENTS, headerOf(delivery, 'x-gitea-event') ?? '');
    return reader === null ? ignored('event-not-followed') : reader(delivery.body, context);
  },
  linking: giteaLinking,
  oauth: giteaOAuth,
  codeHost: access,
  rights: {
    ...access,
    permissionOf: (client, repository, actor) => giteaCalls(client).permissionOf(repository, actor),
  },
  // It has no limit of its own.
  answers: {
    ...access,
    calls: (client) => forgeAnswers(giteaCalls(client)),
    reacts: true,
    replies: true,
    pace: { burst: 100, everyMs: 200 },
  },
  threads: { ...access, read: (client, thread) => readForgeThread(client, thread, giteaLines) },
};
