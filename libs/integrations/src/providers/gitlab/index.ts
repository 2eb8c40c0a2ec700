import { headerOf, type ReadDelivery } from '../../delivery.js';
import type { CodeHostAccess, Provider } from '../../provider.js';
import { idAt, ignored, own, plainName, readerOf } from '../../reading/reading.js';
import { gitlabAnswers, gitlabPermission } from './calls.js';
import { gitlabCalls } from './code-host.js';
import { GITLAB_EVENTS } from './events.js';
import { gitlabHookDeliveries } from './hook-deliveries.js';
import { gitlabHooks } from './hooks.js';
import { gitlabLinking } from './linking.js';
import { gitlabOAuth } from './oauth.js';
import { gitlabSubject } from './paths.js';
import { readGitlabThread } from './thread.js';
import { gitlabTokens } from './tokens.js';

const access: CodeHostAccess = {
  // Access tokens of projects, groups and users are accepted like those of OAuth.
  authorization: (token) => `Bearer ${token}`,
  apiUrl: (baseUrl) => `${baseUrl}/api/v4`,
  gitUser: 'oauth2',
  pullRequestTemplates: ['.gitlab/merge_request_templates/default.md'],
  noreply: ({ id, login }, host) =>
    `${id}-${login}@users.noreply.${URL.parse(`http://${host}`)?.hostname ?? 'invalid'}`,
  calls: gitlabCalls,
  subjectOf: gitlabSubject,
  hooks: gitlabHooks,
  hookDeliveries: gitlabHookDeliveries,
};

const MIB = 1024 * 1024;

/** GitLab before 17.4 names no delivery: its event, the object and that object's version do. */
function olderId(delivery: ReadDelivery): string | null {
  const event = headerOf(delivery, 'x-gitlab-event-uuid');
  const attributes = own(delivery.body, 'object_attributes');
  const object = idAt(attributes, 'id');
  if (event === undefined) return null;
  return [event, object ?? '', idAt(attributes, 'updated_at') ?? ''].join('/');
}

/** gitlab.com and self-managed. */
export const gitlab: Provider = {
  id: 'gitlab',
  name: 'GitLab',
  does: ['code', 'tickets'],
  host: null,
  connections: [
    { kind: 'oauth', name: 'OAuth application', signature: 'signed' },
    { kind: 'oauth-token', name: 'OAuth application, GitLab before signed webhooks', signature: 'token' },
    { kind: 'access-token', name: 'Project or group access token', signature: 'signed' },
  ],
  signatures: {
    signed: {
      kind: 'hmac-sha256',
      header: 'webhook-signature',
      encoding: 'base64',
      prefix: 'v1,',
      several: true,
      key: 'whsec-base64',
      signed: [{ header: 'webhook-id' }, { text: '.' }, { header: 'webhook-timestamp' }, { text: '.' }, 'body'],
      time: { from: { header: 'webhook-timestamp' }, unit: 's', toleranceS: 300 },
    },
    token: { kind: 'token', header: 'x-gitlab-token' },
  },
  maxBytes: 5 * MIB,
  form: false,
  tenant: { account: () => null },
  deliveryId: (delivery) =>
    headerOf(delivery, 'webhook-id') ?? headerOf(delivery, 'idempotency-key') ?? olderId(delivery),
  eventName: ({ body }) => {
    const action = own(own(body, 'object_attributes'), 'action');
    return [plainName(own(body, 'object_kind')) ?? plainName(own(body, 'event_name')) ?? 'unknown', plainName(action)]
      .filter(Boolean)
      .join('.');
  },
  read: ({ body }, context) => {
    const kind = own(body, 'object_kind');
    const reader = readerOf(GITLAB_EVENTS, typeof kind === 'string' ? kind : '');
    return reader === null ? ignored('event-not-followed') : reader(body, context);
  },
  codeHost: access,
  rights: { ...access, permissionOf: gitlabPermission },
  linking: gitlabLinking,
  oauth: gitlabOAuth,
  tokens: gitlabTokens,
  // gitlab.com lets 60 notes a minute be written.
  answers: { ...access, calls: gitlabAnswers, reacts: true, replies: true, pace: { burst: 30, everyMs: 2_000 } },
  threads: { ...access, read: readGitlabThread },
};
