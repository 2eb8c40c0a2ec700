import { z } from 'zod';
import type { Installation, OwnershipProof } from '../../apps/app-access.js';
import { ProviderRefusal } from '../../calls/provider-refusal.js';
import type { AccountLinking } from '../../linking/account-linking.js';
import { redeemCode } from '../../linking/redeem.js';
import { fields, id, list, name } from '../../reading/fields.js';
import { installation, installationOf } from './installation.js';

const PAGE = 100;
/** Installations of one app that a user sees. Pages. */
const MAX_PAGES = 5;

const membership = fields({ state: name, role: name, organization: fields({ id }) });

/** By the user's own token: a browser's query alone proves nothing about an installation. */
export function ownershipProof({ endpoints, whoIs, revoke }: AccountLinking): OwnershipProof {
  return {
    redeem: ({ baseUrl, app, code, redirectUri, verifier }, connect) =>
      // After an installation GitHub begins by itself: there is neither a redirect address of ours in it nor PKCE.
      redeemCode(
        endpoints(baseUrl).token,
        {
          client_id: app.clientId,
          client_secret: app.clientSecret,
          code,
          ...(redirectUri === undefined ? {} : { redirect_uri: redirectUri }),
          ...(verifier === undefined ? {} : { code_verifier: verifier }),
        },
        connect,
      ),
    installations: async (user, appId) => {
      const found: Installation[] = [];
      for (let page = 1; page <= MAX_PAGES; page += 1) {
        const path = `/user/installations?per_page=${PAGE}&page=${page}`;
        const { body } = await user.call({ method: 'GET', path, answer: fields({ installations: list(z.unknown()) }) });
        // Of an enterprise there is no account with a login: not ours to read.
        const readable = body.installations.flatMap((each) => installation.safeParse(each).data ?? []);
        found.push(...readable.map(installationOf).filter((each) => each.appId === appId));
        if (body.installations.length < PAGE) break;
      }
      return found;
    },
    whoIs: (user) => whoIs(user, { baseUrl: '', workspace: null }),
    administers: async (user, account) => {
      if (account.kind === 'user') return (await whoIs(user, { baseUrl: '', workspace: null })).id === account.id;
      try {
        const path = `/user/memberships/orgs/${encodeURIComponent(account.login)}`;
        const { body } = await user.call({ method: 'GET', path, answer: membership });
        return body.organization.id === account.id && body.state === 'active' && body.role === 'admin';
      } catch (error) {
        if (error instanceof ProviderRefusal && (error.kind === 'missing' || error.kind === 'forbidden')) return false;
        throw error;
      }
    },
    revoke: async (at, connect) => revoke?.(at, connect),
  };
}
