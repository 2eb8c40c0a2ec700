import { z } from 'zod';
import { type AccountLinking, endpointsBelow } from '../../linking/account-linking.js';
import { reviewApproval } from '../../linking/approval.js';
import { fields, id, name } from '../../reading/fields.js';

const RESIDENT = /^https:\/\/([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.ghe\.com)$/i;

/** GitHub's own cloud: github.com, and `*.ghe.com` of an enterprise whose data stays in a region. */
export const isGitHubCloud = (baseUrl: string): boolean => baseUrl === 'https://github.com' || RESIDENT.test(baseUrl);

/** The cloud has its API at a host of its own below the same domain; GitHub Enterprise Server below its pages. */
export function githubApi(baseUrl: string): string {
  const [, resident] = RESIDENT.exec(baseUrl) ?? [];
  if (resident !== undefined) return `https://api.${resident.toLowerCase()}`;
  return isGitHubCloud(baseUrl) ? 'https://api.github.com' : `${baseUrl}/api/v3`;
}

export const githubLinking: AccountLinking = {
  // Who a token is of, GitHub says without any scope.
  scopes: () => [],
  endpoints: endpointsBelow('/login/oauth/authorize', '/login/oauth/access_token'),
  // A GitHub App ignores it: there, what the app may do is what the user lets it do.
  approval: reviewApproval(['repo'], 'APPROVE'),
  apiUrl: githubApi,
  whoIs: async (api) => (await api.call({ method: 'GET', path: '/user', answer: fields({ id, login: name }) })).body,
  revoke: async ({ baseUrl, app, token }, connect) => {
    const basic = `Basic ${Buffer.from(`${app.clientId}:${app.clientSecret}`).toString('base64')}`;
    const path = `/applications/${encodeURIComponent(app.clientId)}/token`;
    await connect(githubApi(baseUrl), basic).call({
      method: 'DELETE',
      path,
      body: { access_token: token },
      answer: z.unknown(),
    });
  },
};
