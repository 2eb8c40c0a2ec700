import { z } from 'zod';
import type { EnteredTokens } from '../../provider.js';
import { fields, maybe, moment } from '../../reading/fields.js';

/** Access tokens of projects, groups and users; their last day is the one before `expires_at`. */
export const gitlabTokens: EnteredTokens = {
  scopes: ['api'],
  inspect: async (api) => {
    const answer = fields({ expires_at: moment, scopes: maybe(z.array(z.string().max(200)).max(100)) });
    const { body } = await api.call({ method: 'GET', path: '/personal_access_tokens/self', answer });
    const at = body.expires_at === null ? Number.NaN : Date.parse(body.expires_at);
    return { expiresAt: Number.isNaN(at) ? null : new Date(at), scopes: body.scopes };
  },
};
