import { headerOf } from '../../delivery.js';
import type { Provider } from '../../provider.js';
import { ignored, own, plainName, readerOf } from '../../reading/reading.js';
import { isCloud, jiraAnswers } from './calls.js';
import { JIRA_EVENTS } from './events.js';
import { keepJiraHooks } from './hooks.js';
import { jiraLinking } from './linking.js';
import { jiraOAuth } from './oauth.js';
import { jiraRereading } from './rereading.js';

const api = {
  // An API token of Cloud comes with its account: `mail:token`.
  authorization: (token: string) =>
    token.includes(':') ? `Basic ${Buffer.from(token).toString('base64')}` : `Bearer ${token}`,
  apiUrl: (baseUrl: string) => `${baseUrl}/rest/api/${isCloud(baseUrl) ? 3 : 2}`,
};

/** Cloud and Data Center. */
export const jira: Provider = {
  id: 'jira',
  name: 'Jira',
  does: ['tickets'],
  host: null,
  connections: [
    { kind: 'service-account', name: 'Service account and API token', signature: 'sha256' },
    { kind: 'oauth', name: 'OAuth 2.0 (3LO)', signature: 'jwt' },
    { kind: 'data-center', name: 'Data Center personal access token', signature: 'sha256' },
  ],
  signatures: {
    sha256: {
      kind: 'hmac-sha256',
      header: 'x-hub-signature',
      encoding: 'hex',
      prefix: 'sha256=',
      key: 'utf8',
      signed: ['body'],
    },
    // Authenticates the caller, not the body, which is reread.
    jwt: { kind: 'jwt-hs256', header: 'authorization' },
  },
  maxBytes: 5 * 1024 * 1024,
  form: false,
  tenant: { account: () => null },
  deliveryId: (delivery) => headerOf(delivery, 'x-atlassian-webhook-identifier') ?? null,
  linking: jiraLinking,
  oauth: jiraOAuth,
  rereading: { ...api, ...jiraRereading },
  appHooks: { ...api, signature: 'jwt', keep: keepJiraHooks },
  eventName: ({ body }) => {
    const kind = plainName(own(body, 'issue_event_type_name'));
    return [plainName(own(body, 'webhookEvent')) ?? 'unknown', kind].filter(Boolean).join('.');
  },
  read: ({ body }, context) => {
    const event = own(body, 'webhookEvent');
    return (
      readerOf(JIRA_EVENTS, typeof event === 'string' ? event : '')?.(body, context) ?? ignored('event-not-followed')
    );
  },
  // The key of an issue begins with that of its project.
  places: { kind: 'project', of: ({ key }) => [typeof key === 'string' ? key.replace(/-\d+$/, '') : undefined] },
  answers: {
    ...api,
    calls: jiraAnswers,
    effects: ['link', 'move'],
    reacts: false,
    pace: { burst: 20, everyMs: 1_000 },
  },
};
