import type { DatabaseSync } from 'node:sqlite';
import Provider, { interactionPolicy } from 'oidc-provider';
import type { Accounts } from './accounts.js';
import type { Config } from './config.js';
import { loadKeys } from './keys.js';
import { SqliteAdapter } from './oidc-adapter.js';
import { messagePage } from './pages/message-page.js';
import { signOutPage } from './pages/sign-out-page.js';
import { wantsSecondFactor } from './second-factor-steps.js';
import { SECOND_FACTOR_ACR } from './second-factors.js';

const DAY = 86_400;
/** Keycloak's paths, below the realm. */
const PATHS = '/protocol/openid-connect';
const SCOPE = 'openid profile email offline_access';

/** An OpenID provider with one client, Keycloak's endpoint paths and claim names, and our own pages. */
export function createProvider(config: Config, store: DatabaseSync, accounts: Accounts): Provider {
  const { jwk, cookieKeys } = loadKeys(store);
  const realmPath = new URL(config.ISSUER_URL).pathname;
  const secure = new URL(config.ISSUER_URL).protocol === 'https:';
  const home = config.POST_LOGOUT_REDIRECT_URI;
  const provider: Provider = new Provider(config.ISSUER_URL, {
    adapter: (model: string) => new SqliteAdapter(store, model),
    clients: [
      {
        client_id: config.OIDC_CLIENT_ID,
        client_secret: config.OIDC_CLIENT_SECRET,
        token_endpoint_auth_method: 'client_secret_post',
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: [config.REDIRECT_URI],
        // With and without the last slash: the same page to a user, two to a comparison.
        post_logout_redirect_uris: [
          ...new Set([home, home.replace(/\/$/, ''), new URL('/', home).href, new URL('/oauth/switched', home).href]),
        ],
        id_token_signed_response_alg: 'RS256',
        backchannel_logout_uri:
          config.BACKCHANNEL_LOGOUT_URI ?? new URL('/oauth/backchannel-logout', config.REDIRECT_URI).href,
        backchannel_logout_session_required: true,
      },
    ],
    jwks: { keys: [jwk] },
    enabledJWA: { idTokenSigningAlgValues: ['RS256'] },
    cookies: {
      keys: cookieKeys,
      names: { session: 'slipway_identity', interaction: 'slipway_identity_step', resume: 'slipway_identity_resume' },
      long: { httpOnly: true, sameSite: 'lax', secure, path: realmPath },
      short: { httpOnly: true, sameSite: 'lax', secure },
    },
    routes: {
      authorization: `${PATHS}/auth`,
      token: `${PATHS}/token`,
      jwks: `${PATHS}/certs`,
      userinfo: `${PATHS}/userinfo`,
      end_session: `${PATHS}/logout`,
      introspection: `${PATHS}/token/introspect`,
      revocation: `${PATHS}/revoke`,
    },
    pkce: { required: () => true },
    scopes: SCOPE.split(' '),
    acrValues: ['password', SECOND_FACTOR_ACR],
    // Authentication methods used, requested or not, in the form of Keycloak's realm.
    claims: {
      openid: ['sub', 'acr', 'amr'],
      profile: ['name', 'preferred_username'],
      email: ['email', 'email_verified'],
    },
    // As Keycloak does: the id token itself says who signed in.
    conformIdTokenClaims: false,
    clientBasedCORS: () => false,
    // The one address that is asked is the client's own for ended sessions, on this machine: the guard against such
    // addresses stays out.
    fetch: (url, options) => {
      const { dispatcher: _, ...rest }: RequestInit & { dispatcher?: unknown } = options ?? {};
      return fetch(url, rest);
    },
    features: {
      devInteractions: { enabled: false },
      // With it the id token also names the session (`sid`).
      backchannelLogout: { enabled: true },
      introspection: { enabled: true },
      revocation: { enabled: true },
      userinfo: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx, form) => {
          const page = signOutPage(form, new URL(home).origin);
          ctx.set(page.headers);
          ctx.body = page.html;
        },
        postLogoutSuccessSource: (ctx) => {
          const page = messagePage({
            title: 'You are signed out',
            text: 'You can close this page.',
            link: { href: home, label: 'Go to Slipway' },
          });
          ctx.set(page.headers);
          ctx.body = page.html;
        },
      },
    },
    findAccount: (_ctx, id) => {
      const account = accounts.find(id);
      if (account === undefined) return undefined;
      const { name, username, email } = account;
      return {
        accountId: id,
        claims: async () => ({ sub: id, name, preferred_username: username, email, email_verified: true }),
      };
    },
    // Refreshing twice at once must not end the session, and a lost answer must not either.
    rotateRefreshToken: false,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    // Our own client: no consent is asked for.
    loadExistingGrant: async (ctx) => {
      const { client, session } = ctx.oidc;
      if (client === undefined || session?.accountId === undefined) return undefined;
      const known = session.grantIdFor(client.clientId);
      const grant =
        (known === undefined ? undefined : await provider.Grant.find(known)) ??
        new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope(SCOPE);
      await grant.save();
      return grant;
    },
    interactions: { policy: withSecondFactor(), url: (_ctx, interaction) => `${realmPath}/login/${interaction.uid}` },
    renderError: (ctx, out) => {
      const page = messagePage({
        title: 'That did not work',
        text:
          out.error === 'invalid_request' && /session|interaction/i.test(out.error_description ?? '')
            ? 'This page is too old, or cookies are turned off. Start the sign-in again.'
            : (out.error_description ?? out.error),
        link: { href: home, label: 'Go to Slipway' },
      });
      ctx.set(page.headers);
      ctx.body = page.html;
    },
    ttl: {
      AccessToken: 300,
      AuthorizationCode: 60,
      IdToken: 3_600,
      Interaction: 1_800, // Refresh tokens live and die with it; a day longer than app-server's own sessions.
      Session: 31 * DAY,
      Grant: 60 * DAY,
      RefreshToken: 60 * DAY,
    },
  });
  // Behind something that ends TLS, which then says so in X-Forwarded-Proto.
  provider.proxy = secure;
  return provider;
}

/**
 * oidc-provider's own rules of when a sign-in is needed; and when a second factor is wanted that the browser's session
 * was begun without.
 */
function withSecondFactor(): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base();
  policy
    .get('login')
    ?.checks.add(
      new interactionPolicy.Check('second_factor_wanted', 'a second factor is wanted', 'login_required', (ctx) =>
        wantsSecondFactor(ctx.oidc.params?.['acr_values']) && ctx.oidc.session?.amr?.includes('otp') !== true
          ? interactionPolicy.Check.REQUEST_PROMPT
          : interactionPolicy.Check.NO_NEED_TO_PROMPT,
      ),
    );
  return policy;
}
