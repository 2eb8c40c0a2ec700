import { z } from 'zod';
import { type AccountLinking, endpointsBelow } from '../../linking/account-linking.js';
import { fields, id, name } from '../../reading/fields.js';
import { project } from './paths.js';

export const gitlabLinking: AccountLinking = {
  scopes: () => ['read_user'],
  endpoints: endpointsBelow('/oauth/authorize', '/oauth/token'),
  approval: {
    scopes: ['api'],
    // With the commit, GitLab refuses by 409 when there is another by then.
    approve: async (api, { repository, number }, sha) => {
      const path = `${project(repository)}/merge_requests/${number}/approve`;
      await api.call({ method: 'POST', path, body: { sha }, answer: z.unknown() });
    },
  },
  apiUrl: (baseUrl) => `${baseUrl}/api/v4`,
  whoIs: async (api) => {
    const { body } = await api.call({ method: 'GET', path: '/user', answer: fields({ id, username: name }) });
    return { id: body.id, login: body.username };
  },
  revoke: async ({ baseUrl, app, token }, connect) => {
    const form = { client_id: app.clientId, client_secret: app.clientSecret, token };
    await connect(baseUrl, null).call({ method: 'POST', path: '/oauth/revoke', form, answer: z.unknown() });
  },
};
