import { z } from 'zod';
import type { EnteredTokens } from '../../provider.js';

/**
 * GitHub reports a token's scopes in the headers of any answer. Fine-grained tokens have permissions instead, and
 * report none.
 */
export const githubTokens: EnteredTokens = {
  scopes: ['repo'],
  inspect: async (api) => {
    // Counts against no limit.
    const { headers } = await api.call({ method: 'GET', path: '/rate_limit', answer: z.unknown() });
    const at = Date.parse(
      (headers.get('github-authentication-token-expiration') ?? '').replace(' UTC', 'Z').replace(/ (?=[+-]\d{4}$)/, ''),
    );
    const scopes = (headers.get('x-oauth-scopes') ?? '').split(/,\s*/).filter((each) => each !== '');
    return { expiresAt: Number.isNaN(at) ? null : new Date(at), scopes: scopes.length === 0 ? null : scopes };
  },
};
