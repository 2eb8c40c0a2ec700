import { ProviderRefusal } from '../../calls/provider-refusal.js';
import { type AccountLinking, endpointsBelow } from '../../linking/account-linking.js';
import { fields, id, maybe, name } from '../../reading/fields.js';
import { isCloud } from './calls.js';

const CONSENT = 'https://auth.atlassian.com';
const API = 'https://api.atlassian.com';

const dataCenter = endpointsBelow('/rest/oauth2/latest/authorize', '/rest/oauth2/latest/token');
/** Of Cloud: `account_id`; of Data Center: `key`. */
const user = fields({ account_id: maybe(id), key: maybe(id), name: maybe(name), nickname: maybe(name) });

/** An account of Cloud is Atlassian's, the same at each site; one of Data Center is of its instance. */
export const jiraLinking: AccountLinking = {
  scopes: (baseUrl) => [isCloud(baseUrl) ? 'read:me' : 'READ'],
  endpoints: (baseUrl) =>
    isCloud(baseUrl)
      ? { authorize: `${CONSENT}/authorize`, token: { baseUrl: CONSENT, path: '/oauth/token', format: 'json' } }
      : dataCenter(baseUrl),
  asks: (baseUrl): Readonly<Record<string, string>> =>
    isCloud(baseUrl) ? { audience: 'api.atlassian.com', prompt: 'consent' } : {},
  apiUrl: (baseUrl) => (isCloud(baseUrl) ? API : `${baseUrl}/rest/api/2`),
  whoIs: async (api, { baseUrl }) => {
    const { body } = await api.call({ method: 'GET', path: isCloud(baseUrl) ? '/me' : '/myself', answer: user });
    const accountId = body.account_id ?? body.key;
    if (accountId === null)
      throw new ProviderRefusal('Jira does not say who it is', {
        kind: 'unreadable',
        status: 200,
        retryAt: null,
        outcomeUnknown: false,
      });
    return { id: accountId, login: body.nickname ?? body.name ?? accountId };
  },
};
