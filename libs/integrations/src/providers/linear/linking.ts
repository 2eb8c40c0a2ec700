import { z } from 'zod';
import type { AccountLinking } from '../../linking/account-linking.js';
import { fields, id, maybe, name } from '../../reading/fields.js';

/** Only linear.app has its API elsewhere. */
export const linearApi = (baseUrl: string): string =>
  baseUrl === 'https://linear.app' ? 'https://api.linear.app' : baseUrl;

const viewer = fields({ data: fields({ viewer: fields({ id, name: maybe(name) }) }) });

export const linearLinking: AccountLinking = {
  scopes: () => ['read'],
  endpoints: (baseUrl) => ({
    authorize: `${baseUrl}/oauth/authorize`,
    token: { baseUrl: linearApi(baseUrl), path: '/oauth/token', format: 'form' },
  }),
  // Else whoever is asked again is sent back without a choice of the workspace.
  asks: () => ({ prompt: 'consent' }),
  apiUrl: linearApi,
  whoIs: async (api) => {
    const { body } = await api.call({
      method: 'POST',
      path: '/graphql',
      body: { query: '{ viewer { id name } }' },
      answer: viewer,
    });
    const { id: userId, name: login } = body.data.viewer;
    return { id: userId, login: login ?? userId };
  },
  revoke: async ({ baseUrl, token }, connect) => {
    await connect(linearApi(baseUrl), `Bearer ${token}`).call({
      method: 'POST',
      path: '/oauth/revoke',
      form: {},
      answer: z.unknown(),
    });
  },
};
