import { type AccountLinking, endpointsBelow } from '../../linking/account-linking.js';
import { reviewApproval } from '../../linking/approval.js';
import { fields, id, name } from '../../reading/fields.js';

/** Gitea has no call that ends a token of OAuth2: it ends within the hour. */
export const giteaLinking: AccountLinking = {
  scopes: () => ['read:user'],
  endpoints: endpointsBelow('/login/oauth/authorize', '/login/oauth/access_token'),
  approval: reviewApproval(['read:user', 'write:repository'], 'APPROVED'),
  apiUrl: (baseUrl) => `${baseUrl}/api/v1`,
  whoIs: async (api) => (await api.call({ method: 'GET', path: '/user', answer: fields({ id, login: name }) })).body,
};
