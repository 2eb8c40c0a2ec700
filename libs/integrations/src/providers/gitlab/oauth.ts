import { z } from 'zod';
import type { ConnectionOAuth } from '../../credentials/connection-oauth.js';
import { endpointsBelow } from '../../linking/account-linking.js';
import { fields, id, name } from '../../reading/fields.js';

/** Acts as the user who consents: a service account. A renewal ends the pair before. */
export const gitlabOAuth: ConnectionOAuth = {
  // Notes, merge requests and webhooks need all of it.
  scopes: ['api'],
  endpoints: endpointsBelow('/oauth/authorize', '/oauth/token'),
  apiUrl: (baseUrl) => `${baseUrl}/api/v4`,
  installation: async (api) => {
    const { body } = await api.call({ method: 'GET', path: '/user', answer: fields({ id, username: name }) });
    return { ids: [body.id], mention: body.username, name: body.username, account: null, accountName: null };
  },
  revoke: async ({ baseUrl, app, tokens }, connect) => {
    for (const token of [tokens.refreshToken, tokens.accessToken]) {
      if (token === null) continue;
      const form = { client_id: app.clientId, client_secret: app.clientSecret, token };
      await connect(baseUrl, null).call({ method: 'POST', path: '/oauth/revoke', form, answer: z.unknown() });
    }
  },
};
