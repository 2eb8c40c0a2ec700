import { z } from 'zod';
import { ProviderRefusal } from '../../calls/provider-refusal.js';
import type { ConnectionOAuth } from '../../credentials/connection-oauth.js';
import { fields, id, maybe, name } from '../../reading/fields.js';

const bot = fields({
  ok: z.boolean(),
  user_id: maybe(id),
  user: maybe(name),
  bot_id: maybe(id),
  team_id: maybe(id),
  team: maybe(name),
});

/** The bot token of the app in one workspace. It has an end where token rotation is on, and then a refresh token. */
export const slackOAuth: ConnectionOAuth = {
  scopes: [
    ...[
      'app_mentions:read',
      'chat:write',
      'reactions:write',
      'channels:history',
      'groups:history',
      'im:history',
      'im:write',
    ],
    ...['users:read', 'users:read.email', 'commands', 'assistant:write'],
  ],
  separator: ',',
  endpoints: (baseUrl) => ({
    authorize: `${baseUrl}/oauth/v2/authorize`,
    token: { baseUrl: `${baseUrl}/api`, path: '/oauth.v2.access', format: 'form' },
  }),
  apiUrl: (baseUrl) => `${baseUrl}/api`,
  installation: async (api) => {
    const { body } = await api.call({ method: 'POST', path: '/auth.test', form: {}, answer: bot });
    const { user_id: userId, team_id: account } = body;
    if (!body.ok || userId === null || account === null)
      throw new ProviderRefusal('POST /auth.test: Slack does not say whose the token is', {
        kind: 'unreadable',
        status: 200,
        retryAt: null,
        outcomeUnknown: false,
      });
    const ids = [userId, ...(body.bot_id === null ? [] : [body.bot_id])];
    return { ids, mention: null, name: body.user ?? userId, account, accountName: body.team };
  },
  revoke: async ({ baseUrl, tokens }, connect) => {
    await connect(`${baseUrl}/api`, `Bearer ${tokens.accessToken}`).call({
      method: 'POST',
      path: '/auth.revoke',
      form: {},
      answer: z.unknown(),
    });
  },
};
