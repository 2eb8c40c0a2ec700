import { z } from 'zod';
import { ProviderRefusal } from '../../calls/provider-refusal.js';
import type { EnteredTokens } from '../../provider.js';
import { fields, maybe } from '../../reading/fields.js';
import { slackOAuth } from './oauth.js';

const ENDED = ['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired'];

/** Bot tokens. Slack reports their scopes in a header. */
export const slackTokens: EnteredTokens = {
  scopes: slackOAuth.scopes,
  inspect: async (api) => {
    const answer = fields({ ok: z.boolean(), error: maybe(z.string().max(200)) });
    const { body, headers } = await api.call({ method: 'POST', path: '/auth.test', form: {}, answer });
    if (!body.ok) {
      const kind = ENDED.includes(body.error ?? '') ? 'credential' : 'unavailable';
      throw new ProviderRefusal('POST /auth.test: refused', {
        kind,
        status: 200,
        retryAt: null,
        outcomeUnknown: false,
      });
    }
    const scopes = (headers.get('x-oauth-scopes') ?? '').split(/,\s*/).filter((each) => each !== '');
    return { expiresAt: null, scopes: scopes.length === 0 ? null : scopes };
  },
};
