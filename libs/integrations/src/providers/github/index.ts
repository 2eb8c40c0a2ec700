import { forgeAnswers, forgeSubject } from '../../answers/forge-answers.js';
import { forgeHooks } from '../../calls/repository-hooks.js';
import { part, repo } from '../../calls/repository-path.js';
import { githubLines, readForgeThread } from '../../calls/thread-reading.js';
import { headerOf } from '../../delivery.js';
import type { CodeHostAccess, Provider } from '../../provider.js';
import { headerName, idAt, ignored, own, plainName, readerOf } from '../../reading/reading.js';
import { githubApp } from './app.js';
import { githubCalls } from './calls.js';
import { GITHUB_EVENTS } from './events.js';
import { hookDeliveries } from './hook-deliveries.js';
import { githubApi, githubLinking } from './linking.js';
import { githubTokens } from './tokens.js';

const access: CodeHostAccess = {
  authorization: (token) => `Bearer ${token}`,
  gitUser: 'x-access-token',
  pullRequestTemplates: [
    '.github/pull_request_template.md',
    'pull_request_template.md',
    'docs/pull_request_template.md',
  ],
  noreply: ({ id, login }, host) => `${id}+${login}@users.noreply.${host}`,
  apiUrl: githubApi,
  calls: githubCalls,
  subjectOf: forgeSubject,
  hooks: (client) => forgeHooks(client, { type: { name: 'web' }, events: GITHUB_HOOK_EVENTS, changesSecret: true }),
  hookDeliveries: (client, { repository, id }) => hookDeliveries(client, `${repo(repository)}/hooks/${part(id)}`),
};

/** What `GITHUB_EVENTS` reads. */
const GITHUB_HOOK_EVENTS = [
  ...['issues', 'issue_comment', 'pull_request', 'pull_request_review', 'pull_request_review_comment'],
  ...['check_suite', 'workflow_run', 'status'],
];

export const github: Provider = {
  id: 'github',
  name: 'GitHub',
  does: ['code', 'tickets'],
  host: 'github.com',
  connections: [
    { kind: 'app', name: 'GitHub App', signature: 'sha256' },
    { kind: 'repository-webhook', name: 'Webhook and token', signature: 'sha256' },
  ],
  signatures: {
    sha256: {
      kind: 'hmac-sha256',
      header: 'x-hub-signature-256',
      encoding: 'hex',
      prefix: 'sha256=',
      key: 'utf8',
      signed: ['body'],
    },
  },
  maxBytes: 25 * 1024 * 1024,
  form: true,
  tenant: { account: ({ body }) => idAt(body, 'installation', 'id') },
  // The same when a user redelivers it.
  deliveryId: (delivery) => headerOf(delivery, 'x-github-delivery') ?? null,
  eventName: (delivery) =>
    [headerName(delivery, 'x-github-event') ?? 'unknown', plainName(own(delivery.body, 'action'))]
      .filter(Boolean)
      .join('.'),
  read: (delivery, context) => {
    const reader = readerOf(GITHUB_EVENTS, headerOf(delivery, 'x-github-event') ?? '');
    return reader === null ? ignored('event-not-followed') : reader(delivery.body, context);
  },
  linking: githubLinking,
  apps: githubApp,
  tokens: githubTokens,
  codeHost: access,
  rights: {
    ...access,
    permissionOf: (client, repository, actor) => githubCalls(client).permissionOf(repository, actor),
  },
  // It lets 80 contents a minute and 500 an hour be written.
  answers: {
    ...access,
    repositoryOf: ({ repository }) => (typeof repository === 'string' ? repository : null),
    calls: (client) => forgeAnswers(githubCalls(client)),
    reacts: true,
    replies: true,
    pace: { burst: 60, everyMs: 8_000 },
  },
  threads: { ...access, read: (client, thread) => readForgeThread(client, thread, githubLines) },
};
