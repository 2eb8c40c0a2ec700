import { z } from 'zod';
import type { ConnectionOAuth } from '../../credentials/connection-oauth.js';
import { fields, id, maybe, name } from '../../reading/fields.js';
import { linearApi } from './linking.js';

const QUERY = '{ viewer { id name } organization { id name } }';
const viewer = fields({
  data: fields({ viewer: fields({ id, name: maybe(name) }), organization: fields({ id, name: maybe(name) }) }),
});

/** `actor=app`: the app becomes a user of the workspace, with an id of its own there. Its tokens last a day. */
export const linearOAuth: ConnectionOAuth = {
  scopes: ['read', 'write', 'app:assignable', 'app:mentionable'],
  separator: ',',
  endpoints: (baseUrl) => ({
    authorize: `${baseUrl}/oauth/authorize`,
    token: { baseUrl: linearApi(baseUrl), path: '/oauth/token', format: 'form' },
  }),
  asks: { actor: 'app', prompt: 'consent' },
  apiUrl: linearApi,
  installation: async (api) => {
    const { body } = await api.call({ method: 'POST', path: '/graphql', body: { query: QUERY }, answer: viewer });
    const { viewer: app, organization } = body.data;
    return {
      ids: [app.id],
      mention: null,
      name: app.name ?? app.id,
      account: organization.id,
      accountName: organization.name,
    };
  },
  revoke: async ({ baseUrl, tokens }, connect) => {
    await connect(linearApi(baseUrl), `Bearer ${tokens.accessToken}`).call({
      method: 'POST',
      path: '/oauth/revoke',
      form: {},
      answer: z.unknown(),
    });
  },
};
