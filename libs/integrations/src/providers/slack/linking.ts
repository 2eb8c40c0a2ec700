import { z } from 'zod';
import { ProviderRefusal } from '../../calls/provider-refusal.js';
import type { AccountLinking } from '../../linking/account-linking.js';
import { fields, id, maybe, name } from '../../reading/fields.js';

const USER = 'https://slack.com/user_id';
const TEAM = 'https://slack.com/team_id';
const user = fields({ [USER]: id, [TEAM]: id, name: maybe(name) });

/** Sign in with Slack. */
export const slackLinking: AccountLinking = {
  scopes: () => ['openid', 'profile'],
  endpoints: (baseUrl) => ({
    authorize: `${baseUrl}/openid/connect/authorize`,
    token: { baseUrl: `${baseUrl}/api`, path: '/openid.connect.token', format: 'form' },
  }),
  apiUrl: (baseUrl) => `${baseUrl}/api`,
  whoIs: async (api, { workspace }) => {
    const { body } = await api.call({ method: 'GET', path: '/openid.connect.userInfo', answer: user });
    const [userId, team] = [String(body[USER]), String(body[TEAM])];
    // Ids of people are said to be unique within their workspace alone.
    if (workspace !== null && team !== workspace)
      throw new ProviderRefusal('a user of another workspace signed in', {
        kind: 'forbidden',
        status: 200,
        retryAt: null,
        outcomeUnknown: false,
      });
    return { id: userId, login: body.name ?? userId };
  },
  revoke: async ({ baseUrl, token }, connect) => {
    await connect(`${baseUrl}/api`, `Bearer ${token}`).call({
      method: 'POST',
      path: '/auth.revoke',
      form: {},
      answer: z.unknown(),
    });
  },
};
