import type { ConnectionOAuth } from '../../credentials/connection-oauth.js';
import { endpointsBelow } from '../../linking/account-linking.js';
import { fields, id, name } from '../../reading/fields.js';

/**
 * Acts as the user who consents. Gitea has no call that ends a token of OAuth2: the access token ends within the hour,
 * the grant in the settings of that user.
 */
export const giteaOAuth: ConnectionOAuth = {
  scopes: ['write:repository', 'write:issue', 'read:user', 'read:organization'],
  endpoints: endpointsBelow('/login/oauth/authorize', '/login/oauth/access_token'),
  apiUrl: (baseUrl) => `${baseUrl}/api/v1`,
  installation: async (api) => {
    const { body } = await api.call({ method: 'GET', path: '/user', answer: fields({ id, login: name }) });
    return { ids: [body.id], mention: body.login, name: body.login, account: null, accountName: null };
  },
};
