export type { IssuerLogout } from './logout-tokens.js';
export { type Identity, isLoopback, OidcIssuer, type SignInTransaction, type Tokens } from './oidc-issuer.js';
export { PrincipalService } from './principals.js';
export type { ProviderToken } from './provider-token.js';
export { SecretBox } from './secret-box/secret-box.js';
export { readCookie, SESSION_COOKIE, SessionCookie } from './session-cookie.js';
export { Sessions, type SignedIn } from './sessions.js';
