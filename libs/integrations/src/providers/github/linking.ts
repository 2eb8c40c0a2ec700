import { z } from 'zod';
import { type AccountLinking, endpointsBelow } from '../../linking/account-linking.js';
import { fields, id, name } from '../../reading/fields.js';

/** GitHub Enterprise has its API below its pages. */
export const githubApi = (baseUrl: string): string => (baseUrl === 'https://github.com' ? 'https://api.github.com' : `${baseUrl}/api/v3`);

export const githubLinking: AccountLinking = {
  // Who a token is of, GitHub says without any scope.
  scopes: () => [],
  endpoints: endpointsBelow('/login/oauth/authorize', '/login/oauth/access_token'),
  apiUrl: githubApi,
  whoIs: async (api) => (await api.call({ method: 'GET', path: '/user', answer: fields({ id, login: name }) })).body,
  revoke: async ({ baseUrl, app, token }, connect) => {
    const basic = `Basic ${Buffer.from(`${app.clientId}:${app.clientSecret}`).toString('base64')}`;
    const path = `/applications/${encodeURIComponent(app.clientId)}/token`;
    await connect(githubApi(baseUrl), basic).call({ method: 'DELETE', path, body: { access_token: token }, answer: z.unknown() });
  },
};
