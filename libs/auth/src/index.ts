export type { IssuerLogout } from './logout-tokens.js';
export { type Identity, isLoopback, OidcIssuer, type SignInTransaction, type SignInWish, type Tokens } from './oidc-issuer.js';
export { type GateRules, PrincipalService } from './principals.js';
export type { ProviderToken } from './provider-token.js';
export { type Connected, ProviderTokens } from './provider-tokens.js';
export { SecretBox } from './secret-box/secret-box.js';
export { readCookie, SESSION_COOKIE, SessionCookie } from './session-cookie.js';
export { type SessionRecord, Sessions, type SignedIn, type SignInOrigin } from './sessions.js';
