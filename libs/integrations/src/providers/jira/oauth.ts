import { ProviderRefusal } from '../../calls/provider-refusal.js';
import type { ConnectionOAuth } from '../../credentials/connection-oauth.js';
import { fields, id, list, maybe, name, url } from '../../reading/fields.js';
import { isCloud } from './calls.js';

const CONSENT = 'https://auth.atlassian.com';
const API = 'https://api.atlassian.com';

const sites = list(fields({ id, url, name: maybe(name) }));
const user = fields({ accountId: id, displayName: maybe(name) });

/**
 * 3LO of Jira Cloud: acts as the user who consents, at the sites that this user chose. A renewal ends the pair before.
 */
export const jiraOAuth: ConnectionOAuth = {
  supports: isCloud,
  scopes: ['read:jira-work', 'write:jira-work', 'read:jira-user', 'manage:jira-webhook', 'offline_access'],
  endpoints: () => ({
    authorize: `${CONSENT}/authorize`,
    token: { baseUrl: CONSENT, path: '/oauth/token', format: 'json' },
  }),
  asks: { audience: 'api.atlassian.com', prompt: 'consent' },
  apiUrl: () => API,
  apiBase: (account) => (account === null ? null : `${API}/ex/jira/${account}`),
  installation: async (api, baseUrl) => {
    const { body } = await api.call({ method: 'GET', path: '/oauth/token/accessible-resources', answer: sites });
    const site = body.find((each) => each.url !== null && new URL(each.url).host === new URL(baseUrl).host);
    if (site === undefined)
      throw new ProviderRefusal('the consent is for another site', {
        kind: 'forbidden',
        status: 200,
        retryAt: null,
        outcomeUnknown: false,
      });
    const me = (
      await api.call({ method: 'GET', path: `/ex/jira/${encodeURIComponent(site.id)}/rest/api/3/myself`, answer: user })
    ).body;
    return {
      ids: [me.accountId],
      mention: null,
      name: me.displayName ?? me.accountId,
      account: site.id,
      accountName: site.name,
    };
  },
  // Atlassian has no call that ends tokens of 3LO: users do it at id.atlassian.com.
  signsWithClientSecret: 'jwt',
};
